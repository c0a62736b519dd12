import {
  closeSessionRequest,
  createSessionRequest,
  deleteSessionRequest,
  forkSessionRequest,
  listSessionsRequest,
  readSessionRequest,
  undoTurnRequest,
  updateSessionRequest,
} from '../../protocol/messages/sessions.ts';
import type { Lazy } from '../base/lazily.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import {
  createSessionSchema,
  forkSessionSchema,
  listSessionsSchema,
  readSessionSchema,
  sessionSchema,
  updateSessionSchema,
} from './params.ts';
import type { Sessions } from './sessions.ts';

/** Answers the requests about kept conversations. */
export function serveSessions(endpoint: Endpoint, sessions: Pick<Lazy<Sessions>, 'get'>): void {
  endpoint.onRequest(createSessionRequest, createSessionSchema, async (params) => {
    const store = await sessions.get();
    return { session: await store.create(params) };
  });
  endpoint.onRequest(listSessionsRequest, listSessionsSchema, async (params, signal) => {
    const store = await sessions.get();
    return store.list(params, signal);
  });
  endpoint.onRequest(readSessionRequest, readSessionSchema, async ({ id, open = false }) => {
    const store = await sessions.get();
    if (open) await store.open(id);
    return store.read(id);
  });
  endpoint.onRequest(updateSessionRequest, updateSessionSchema, async ({ id, title }) => {
    const store = await sessions.get();
    return { session: await store.update(id, title) };
  });
  endpoint.onRequest(undoTurnRequest, sessionSchema, async ({ id }) => {
    const store = await sessions.get();
    return store.undo(id);
  });
  endpoint.onRequest(forkSessionRequest, forkSessionSchema, async ({ id, turns }) => {
    const store = await sessions.get();
    return store.fork(id, turns);
  });
  endpoint.onRequest(closeSessionRequest, sessionSchema, async ({ id }) => {
    const store = await sessions.get();
    await store.release(id);
    return {};
  });
  endpoint.onRequest(deleteSessionRequest, sessionSchema, async ({ id }) => {
    const store = await sessions.get();
    await store.delete(id);
    return {};
  });
}
