import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import type {
  CreateSessionParams,
  ForkSessionParams,
  ListSessionsParams,
  ReadSessionParams,
  SessionParams,
  UpdateSessionParams,
} from '../../protocol/messages/sessions.ts';
import { exact, type Schema } from '../base/validate.ts';

const title = z.string().check(
  z.refine((text) => text.trim() !== '', 'it is empty'),
  z.maxLength(200, 'it is longer than 200 characters'),
);
/** The length of Linux's longest path. */
const folder = z.string().check(z.refine(isAbsolute, 'it is not an absolute path'), z.maxLength(4096));
const id = z.string();

export const createSessionSchema: Schema<CreateSessionParams> = exact(
  z.object({
    title: z.exactOptional(title),
    cwd: z.exactOptional(folder),
    kept: z.exactOptional(z.boolean()),
  }),
);

export const listSessionsSchema: Schema<ListSessionsParams> = exact(
  z.object({
    query: z.exactOptional(z.string().check(z.maxLength(200, 'it is longer than 200 characters'))),
    cwd: z.exactOptional(folder),
    limit: z.exactOptional(
      z.int().check(z.gte(1, 'it is less than 1'), z.lte(1000, 'it is more than 1,000')),
    ),
    cursor: z.exactOptional(z.string()),
  }),
);

export const sessionSchema: Schema<SessionParams> = exact(z.object({ id }));
export const readSessionSchema: Schema<ReadSessionParams> = exact(
  z.object({
    id,
    open: z.exactOptional(z.boolean()),
  }),
);
export const forkSessionSchema: Schema<ForkSessionParams> = exact(
  z.object({
    id,
    turns: z.exactOptional(z.int().check(z.gte(1, 'it is less than 1'))),
  }),
);
export const updateSessionSchema: Schema<UpdateSessionParams> = exact(z.object({ id, title }));
