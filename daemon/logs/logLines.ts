import type { LogLevel } from '../../protocol/initialize.ts';
import { levelOfLine } from './lineLevel.ts';
import { LineLimit } from './lineLimit.ts';
import type { SplitLine } from './lineSplitter.ts';
import { plainText } from './plainText.ts';
import { hidePrivateText } from './privateText.ts';

/** How long after lines were left out it is looked whether there is room to say so, in ms. */
const reopenEvery = 1000;

/** From split lines to what is told: plain, private text hidden, classified, and not too many. */
export interface LogLines {
  take(line: SplitLine): void;
  /** What the daemon itself has to say about the log; no limit holds it back. */
  warn(message: string): void;
  /** Says what was left out; after it nothing is told. */
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

  const tell = (level: LogLevel, message: string) => {
    if (ended) return;
    try {
      onLine(level, message);
    } catch {
      // It would end the process from within a stream's event. Whoever takes the lines knows why it failed.
    }
  };
  const tellLeftOut = (count: number) => {
    if (count > 0) tell('warn', `… ${counted(count, 'line')} left out`);
  };
  const lookAgain = () => {
    timer = undefined;
    tellLeftOut(limit.reopen());
    if (limit.leftOut > 0) timer = setTimeout(lookAgain, reopenEvery);
  };

  return {
    take(line) {
      const text = plainText(line.text);
      if (ended || text.trim() === '') return;
      tellLeftOut(limit.reopen());
      if (limit.take()) tell(levelOfLine(text), hidePrivateText(text) + remainder(line));
      else timer ??= setTimeout(lookAgain, reopenEvery);
    },
    warn: (message) => tell('warn', message),
    end() {
      clearTimeout(timer);
      tellLeftOut(limit.takeLeftOut());
      ended = true;
    },
  };
}

/** Said behind a line that was cut. */
function remainder({ text, length }: SplitLine): string {
  return length > text.length ? `… (${counted(length, 'character')})` : '';
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
