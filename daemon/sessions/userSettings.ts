import * as z from 'zod/mini';
import { userConfigPath } from '../config/userConfig.ts';
import type { Log } from '../log.ts';
import { readRegularFile } from '../regularFile.ts';

export interface SessionSettings {
  readonly keepSessions: boolean;
  /** After so many days without a turn a conversation is deleted. */
  readonly sessionDays: number;
}

/** No configuration is larger. */
const maxBytes = 1024 * 1024;

const schema = z.object({
  keepSessions: z.optional(z.boolean()),
  sessionDays: z.optional(z.int().check(z.gte(1), z.lte(36_500))),
});

/**
 * What the user's own file says, for clients without settings of their own; no file says nothing. One that cannot be
 * used is told, and nothing is kept until it is mended: it may say so.
 */
export async function readUserSettings(env: NodeJS.ProcessEnv, log: Log): Promise<Partial<SessionSettings>> {
  const path = userConfigPath(env);
  const text = await readRegularFile(path, maxBytes).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' || error.code === 'ENOTDIR' ? '{}' : '',
  );
  const parsed = schema.safeParse(tryJson(text));
  if (!parsed.success) {
    log.warn(
      `No conversation is kept: "keepSessions" is true or false, and "sessionDays" a number, in ${path}.`,
    );
    return { keepSessions: false };
  }
  const { keepSessions, sessionDays } = parsed.data;
  return {
    ...(keepSessions === undefined ? {} : { keepSessions }),
    ...(sessionDays === undefined ? {} : { sessionDays }),
  };
}

/** Where both say something, the stricter counts. */
export function stricter(one: SessionSettings, other: Partial<SessionSettings>): SessionSettings {
  return {
    keepSessions: one.keepSessions && other.keepSessions !== false,
    sessionDays: Math.min(one.sessionDays, other.sessionDays ?? one.sessionDays),
  };
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
