import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import {
  type CreateSessionParams,
  closeSessionRequest,
  createSessionRequest,
  deleteSessionRequest,
  type ForkSessionParams,
  forkSessionRequest,
  type ListSessionsParams,
  listSessionsRequest,
  type ReadSessionParams,
  readSessionRequest,
  type SessionParams,
  type UpdateSessionParams,
  undoTurnRequest,
  updateSessionRequest,
} from '../../protocol/messages/sessions.ts';
import type { Lazy } from '../base/lazily.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { Sessions } from './sessions.ts';

/** Answers the requests about kept conversations. */
export function serveSessions(endpoint: Endpoint, { get }: Pick<Lazy<Sessions>, 'get'>): void {
  endpoint.onRequest(createSessionRequest, createSessionSchema, async (params) => ({
    session: await (await get()).create(params),
  }));
  endpoint.onRequest(listSessionsRequest, listSessionsSchema, async (params, signal) =>
    (await get()).list(params, signal),
  );
  endpoint.onRequest(readSessionRequest, readSessionSchema, async ({ id, open = false }) => {
    const store = await get();
    if (open) await store.open(id);
    return store.read(id);
  });
  endpoint.onRequest(updateSessionRequest, updateSessionSchema, async ({ id, title }) => ({
    session: await (await get()).update(id, title),
  }));
  endpoint.onRequest(undoTurnRequest, sessionSchema, async ({ id }) => (await get()).undo(id));
  endpoint.onRequest(forkSessionRequest, forkSessionSchema, async ({ id, turns }) =>
    (await get()).fork(id, turns),
  );
  endpoint.onRequest(closeSessionRequest, sessionSchema, async ({ id }) => {
    await (await get()).release(id);
    return {};
  });
  endpoint.onRequest(deleteSessionRequest, sessionSchema, async ({ id }) => {
    await (await get()).delete(id);
    return {};
  });
}

const title = z.string().check(
  z.refine((text) => text.trim() !== '', 'it is empty'),
  z.maxLength(200, 'it is longer than 200 characters'),
);
/** The length of Linux's longest path. */
const folder = z.string().check(z.refine(isAbsolute, 'it is not an absolute path'), z.maxLength(4096));
const id = z.string();

const createSessionSchema: Schema<CreateSessionParams> = exact(
  z.object({
    title: z.exactOptional(title),
    cwd: z.exactOptional(folder),
    kept: z.exactOptional(z.boolean()),
  }),
);

const listSessionsSchema: Schema<ListSessionsParams> = exact(
  z.object({
    query: z.exactOptional(z.string().check(z.maxLength(200, 'it is longer than 200 characters'))),
    cwd: z.exactOptional(folder),
    limit: z.exactOptional(
      z.int().check(z.gte(1, 'it is less than 1'), z.lte(1000, 'it is more than 1,000')),
    ),
    cursor: z.exactOptional(z.string()),
  }),
);

const sessionSchema: Schema<SessionParams> = exact(z.object({ id }));
const readSessionSchema: Schema<ReadSessionParams> = exact(
  z.object({ id, open: z.exactOptional(z.boolean()) }),
);
const forkSessionSchema: Schema<ForkSessionParams> = exact(
  z.object({ id, turns: z.exactOptional(z.int().check(z.gte(1, 'it is less than 1'))) }),
);
const updateSessionSchema: Schema<UpdateSessionParams> = exact(z.object({ id, title }));
