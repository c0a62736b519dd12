import { messageOf } from '../../protocol/base/errorText.ts';
import type { LogLines } from './logLines.ts';

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
