import type { LogLevel } from '../../protocol/messages/initialize.ts';

const levels: Readonly<Record<string, LogLevel>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/** The level that a runner wrote into one of its lines, such as `level=DEBUG`; undefined for any other line. */
export function ownLevel(line: string): LogLevel | undefined {
  const word = /(?:^|\s)level=(TRACE|DEBUG|INFO|WARN|ERROR)/.exec(line)?.[1];
  return word === undefined ? undefined : levels[word];
}

/** The severity of a line: its own level, else by the status of an answered request, else `info`. */
export function levelOfLine(line: string): LogLevel {
  const own = ownLevel(line);
  if (own) return own;
  const status = Number(/^\[GIN\][^|]*\|\s*(\d{3})\s*\|/.exec(line)?.[1] ?? 0);
  if (status >= 500) return 'error';
  return status >= 400 ? 'warn' : 'info';
}
