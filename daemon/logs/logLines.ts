import { LineSplitter, type SplitLine } from '../../protocol/base/lineSplitter.ts';
import { count, cutText } from '../../protocol/base/text.ts';
import type { LogLevel } from '../../protocol/messages/settings.ts';
import { LineLimit, plainText } from '../base/programOutput.ts';
import { hidePrivateText, levelOfLine } from './runnerLine.ts';

/** How much of a line is shown, in UTF-16 units. */
export const maxLineLength = 8192;

/** A splitter that holds enough of each line: UTF-8 needs at most three bytes for a unit. */
export function createLogSplitter(): LineSplitter {
  return new LineSplitter(4 * maxLineLength);
}

/** The part of a line that is shown, without its CR. If that is not the whole line, a note gives its length. */
export function shownPart({ text, bytes, isCut }: SplitLine): {
  readonly text: string;
  readonly note: string;
} {
  const line = text.replace(/\r$/, '');
  const shown = cutText(line, maxLineLength);
  const isWhole = !isCut && shown.length === line.length;
  return { text: shown, note: isWhole ? '' : `… (${count(bytes, 'byte')})` };
}

/** After lines were left out, how often to check whether there is room to say so, in ms. */
const reopenEvery = 1000;

export interface LogLinesOptions {
  readonly onLine: (level: LogLevel, message: string) => void;
  /** In ms. */
  readonly now: () => number;
}

export type LogLines = ReturnType<typeof createLogLines>;

/** Turns split lines into log lines: plain text, private text hidden, with a level, and not too many. */
export function createLogLines({ onLine, now }: LogLinesOptions) {
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
  const writeLeftOut = (lines: number) => {
    if (lines > 0) write('warn', `… ${count(lines, 'line')} left out`);
  };
  const lookAgain = () => {
    timer = undefined;
    writeLeftOut(limit.reopen());
    if (limit.leftOut > 0) timer = setTimeout(lookAgain, reopenEvery);
  };

  return {
    take(line: SplitLine): void {
      const shown = shownPart(line);
      const text = plainText(shown.text);
      if (ended || text.trim() === '') return;
      writeLeftOut(limit.reopen());
      if (limit.take()) write(levelOfLine(text), hidePrivateText(text) + shown.note);
      else timer ??= setTimeout(lookAgain, reopenEvery);
    },
    /** Logs what the daemon itself says about the log. No limit applies to it. */
    warn: (message: string) => write('warn', message),
    /** Logs how many lines were left out. Nothing is logged afterwards. */
    end(): void {
      clearTimeout(timer);
      writeLeftOut(limit.takeLeftOut());
      ended = true;
    },
  };
}
