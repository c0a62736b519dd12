import { LineSplitter, type SplitLine } from '../../protocol/base/byteStreams.ts';
import { count, cutText, messageOf } from '../../protocol/base/text.ts';
import type { LogLevel } from '../../protocol/messages/settings.ts';
import { LineLimit, plainText } from '../base/programOutput.ts';

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

/** Turns split lines into log lines: plain text, private text hidden, with a level, and not too many. */
export class LogLines {
  readonly #limit: LineLimit;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  /** `now` in ms. */
  constructor(
    private readonly onLine: (level: LogLevel, message: string) => void,
    now: () => number,
  ) {
    this.#limit = new LineLimit(now);
  }

  take(line: SplitLine): void {
    const shown = shownPart(line);
    const text = plainText(shown.text);
    if (this.#ended || text.trim() === '') return;
    this.#writeLeftOut(this.#limit.reopen());
    if (this.#limit.take()) this.#write(levelOfLine(text), hidePrivateText(text) + shown.note);
    else this.#timer ??= setTimeout(() => this.#lookAgain(), reopenEvery);
  }

  /** Logs what the daemon itself says about the log. No limit applies to it. */
  warn(message: string): void {
    this.#write('warn', message);
  }

  /** Logs how many lines were left out. Nothing is logged afterwards. */
  end(): void {
    clearTimeout(this.#timer);
    this.#writeLeftOut(this.#limit.takeLeftOut());
    this.#ended = true;
  }

  #write(level: LogLevel, message: string): void {
    if (this.#ended) return;
    try {
      this.onLine(level, message);
    } catch {
      // The error would end the process, because a stream's event calls this. The receiver knows why it failed.
    }
  }

  #writeLeftOut(lines: number): void {
    if (lines > 0) this.#write('warn', `… ${count(lines, 'line')} left out`);
  }

  #lookAgain(): void {
    this.#timer = undefined;
    this.#writeLeftOut(this.#limit.reopen());
    if (this.#limit.leftOut > 0) this.#timer = setTimeout(() => this.#lookAgain(), reopenEvery);
  }
}

const levels: Readonly<Record<string, LogLevel>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/** The level that a runner wrote into one of its lines, such as `level=DEBUG`; undefined for any other line. */
function ownLevel(line: string): LogLevel | undefined {
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

/**
 * Attributes that hold what a user or a model said, in the lines of `OLLAMA_DEBUG`. The later ones are names in its
 * parsers.
 */
const privateNames = wordsOf(`
  prompt content message messages request response input output text thinking
  image images suffix body data
  string ids from events event buffer acc tool toolcalls arguments args
  query raw req resp system template
`);
const hidden = '***';

/**
 * An attribute in slog's text format: `key=bare` or `key="quoted with \" escapes"`. The end is missing if the line was
 * cut.
 */
const attribute = /(?<![\w.-])([\w.-]+)=("(?:[^"\\]|\\.)*\\?"?|\S*)/g;

const debugRules = rulesFor(privateNames);
/** The rules for the engine's own lines and JSON. The names are few, because much else in them has a colon. */
const freeRules = rulesFor(
  wordsOf('prompt content message messages response thinking system text input output'),
);
/** A token that the engine logs in debug mode. */
const token = /((?:next|sampled) token:).*$/i;
/** The rules for every line. */
const commonRules = rulesFor(['prompt']);

/** Hides prompts and answers in a line: the values of private attributes become `***`. */
export function hidePrivateText(line: string): string {
  const level = ownLevel(line);
  // In free text and JSON the end of a value cannot be trusted: everything after the name may belong to it.
  if (level === undefined)
    return line.replace(freeRules.inValue, `$1${hidden}`).replace(token, `$1${hidden}`);
  const { names, inValue } = level === 'debug' ? debugRules : commonRules;
  return line.replace(attribute, (whole: string, key: string, value: string) => {
    if (names.has(nameOf(key))) return `${key}=${hidden}`;
    return value.startsWith('"') ? `${key}=${value.replace(inValue, `$1${hidden}"`)}` : whole;
  });
}

function wordsOf(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

interface PrivacyRules {
  readonly names: ReadonlySet<string>;
  /** Finds such a name within a value, which may be a sentence, Go or JSON. Everything after the name is hidden. */
  readonly inValue: RegExp;
}

function rulesFor(names: readonly string[]): PrivacyRules {
  return {
    names: new Set(names),
    inValue: new RegExp(`(?<!\\w)((?:${names.join('|')})\\\\?["']?\\s*[=:]).*$`, 'is'),
  };
}

/** The name comes after its groups, as in `req.prompt`. */
function nameOf(key: string): string {
  return key
    .slice(key.lastIndexOf('.') + 1)
    .replace(/[_-]/g, '')
    .toLowerCase();
}

/** One source that is followed until its signal is aborted or it ends by itself. */
export interface Follower {
  /** The path or the command line. */
  readonly source: string;
  /** Settles when all of its handles and children are gone, with a clause that says how it ended. Never rejects. */
  readonly ended: Promise<string>;
}

export interface FollowOptions {
  readonly lines: LogLines;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** How often a file is checked, in ms. */
  readonly pollEvery: number;
  /** How long a command may take until its first line, in ms. */
  readonly firstLineWithin: number;
  /** Ends the follower. After the abort it passes on no lines. */
  readonly signal: AbortSignal;
}

/**
 * The reason why a source cannot be followed, as a clause such as `does not exist`. The next source is tried; this
 * error never crosses the wire.
 */
export class NoSourceError extends Error {
  override readonly name = 'NoSourceError';
}

/** The code of a system error, such as `ENOENT`, or else its message. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
}
