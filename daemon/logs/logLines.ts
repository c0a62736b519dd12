import type { LogLevel } from '../../protocol/messages/initialize.ts';
import { levelOfLine } from './lineLevel.ts';
import { LineLimit } from './lineLimit.ts';
import type { SplitLine } from './lineSplitter.ts';
import { plainText } from './plainText.ts';
import { hidePrivateText } from './privateText.ts';

/** After lines were left out, how often to check whether there is room to say so, in ms. */
const reopenEvery = 1000;

/** Turns split lines into log lines: plain text, private text hidden, with a level, and not too many. */
export interface LogLines {
  take(line: SplitLine): void;
  /** Logs what the daemon itself says about the log. No limit applies to it. */
  warn(message: string): void;
  /** Logs how many lines were left out. Nothing is logged afterwards. */
  end(): void;
}

export interface LogLinesOptions {
  readonly onLine: (level: LogLevel, message: string) => void;
  /** In ms. */
  readonly now: () => number;
}

export function createLogLines({ onLine, now }: LogLinesOptions): LogLines {
  const limit = new LineLimit(now);
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const write = (level: LogLevel, message: string) => {
    if (ended) return;
    try {
      onLine(level, message);
    } catch {
      // The error would end the process, because a stream's event calls this. The receiver knows why it failed.
    }
  };
  const writeLeftOut = (count: number) => {
    if (count > 0) write('warn', `… ${counted(count, 'line')} left out`);
  };
  const lookAgain = () => {
    timer = undefined;
    writeLeftOut(limit.reopen());
    if (limit.leftOut > 0) timer = setTimeout(lookAgain, reopenEvery);
  };

  return {
    take(line) {
      const text = plainText(line.text);
      if (ended || text.trim() === '') return;
      writeLeftOut(limit.reopen());
      if (limit.take()) write(levelOfLine(text), hidePrivateText(text) + remainder(line));
      else timer ??= setTimeout(lookAgain, reopenEvery);
    },
    warn: (message) => write('warn', message),
    end() {
      clearTimeout(timer);
      writeLeftOut(limit.takeLeftOut());
      ended = true;
    },
  };
}

/** The note after a line that was cut. */
function remainder({ text, length }: SplitLine): string {
  return length > text.length ? `… (${counted(length, 'character')})` : '';
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
