import { type Logger, pino } from 'pino';
import { escapeControlsInJson, showLine } from '../../protocol/base/text.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** The log of the service, for people in sentences. It never contains a token or the text of a document. */
export function createLogger(level: LogLevel, write: (line: string) => void, isForPeople: boolean): Logger {
  return pino(
    {
      level,
      base: null,
      // A header may contain a token, and what a client asked for is private.
      redact: { paths: ['req', 'request', 'err.headers', 'err.cause.headers'], remove: true },
    },
    { write: (line: string) => write(isForPeople ? lineToSentence(line) : escapeControlsInJson(line)) },
  );
}

const names: Readonly<Record<number, string>> = {
  20: 'debug: ',
  40: 'warning: ',
  50: 'error: ',
  60: 'error: ',
};

/** What pino writes, as JSON. */
interface LogLine {
  readonly level?: number;
  readonly msg?: string;
  readonly err?: { readonly stack?: string };
}

function lineToSentence(line: string): string {
  const { level = 30, msg = '', err } = JSON.parse(line) as LogLine;
  return `${names[level] ?? ''}${showLine(msg)}${err?.stack === undefined ? '' : `\n${err.stack}`}\n`;
}
