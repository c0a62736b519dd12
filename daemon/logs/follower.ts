import type { LogLines } from './logLines.ts';

/** One source that is being followed, until its signal is aborted or it ends by itself. */
export interface Follower {
  /** The path or the command line. */
  readonly source: string;
  /** Settles once nothing of it is left, no handle and no child, with how it ended; never rejects. */
  readonly ended: Promise<string>;
}

export interface FollowOptions {
  readonly lines: LogLines;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** How often a file is looked at, in ms. */
  readonly pollEvery: number;
  /** How long a command has for its first line, in ms. */
  readonly firstLineWithin: number;
  /** Ends it; after the abort nothing is told. */
  readonly signal: AbortSignal;
}

/** Why a source cannot be followed, as a clause such as `is not there`. The next one is tried; it never crosses the wire. */
export class NoSourceError extends Error {
  override readonly name = 'NoSourceError';
}

/** The code of a system error such as `ENOENT`, else what it says. */
export function systemCode(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}
