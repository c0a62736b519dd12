import * as z from 'zod/mini';
import { type LinkedSignal, linkedSignal } from '../../protocol/base/abort.ts';
import { cancelChat } from '../../protocol/messages/chat.ts';
import type { ServerParams } from '../../protocol/messages/messageTypes.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { exact } from '../base/validate.ts';
import type { ModelPlaces, PlacedModel } from '../models/modelPlaces.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { LSPErrorCodes, ResponseError } from '../rpc/languageServer.ts';
import type { Servers } from '../runner/servers.ts';
import type { StatusMonitor } from '../status/status.ts';

interface StreamParams extends ServerParams {
  readonly streamId: string;
  readonly model: string;
}

/** Runs the work on an answer whose deltas have a `streamId`. The signal is also aborted by `runner/chat/cancel`. */
export type AnswerStream = <Result>(
  params: StreamParams,
  signal: AbortSignal,
  work: (placed: PlacedModel, signal: AbortSignal) => Promise<Result>,
) => Promise<Result>;

/**
 * The chats and edits that are being answered. Two must not have the same `streamId`, because a client could not
 * distinguish them.
 */
export function serveAnswerStreams(
  endpoint: Endpoint,
  {
    servers,
    places,
    status,
  }: { readonly servers: Servers; readonly places: ModelPlaces; readonly status: StatusMonitor },
): AnswerStream {
  const running = new Map<string, LinkedSignal>();
  endpoint.onNotification(cancelChat, exact(z.object({ streamId: z.string() })), ({ streamId }) =>
    running.get(streamId)?.abort(),
  );
  return async ({ streamId, ...named }, asked, work) => {
    if (running.has(streamId))
      throw new InvalidParamsError('streamId', 'another running chat or edit already uses it');
    const stream = linkedSignal(asked);
    running.set(streamId, stream);
    let done: (() => void) | undefined;
    try {
      const placed = await places.find(named, stream.signal);
      // The status is that of the default server.
      if (placed.runner.server.name === servers.server().name) done = status.beginWork();
      return await work(placed, stream.signal);
    } catch (error) {
      if (!stream.signal.aborted || error instanceof RunnerError) throw error;
      throw new ResponseError(LSPErrorCodes.RequestCancelled, 'The request was cancelled.');
    } finally {
      done?.();
      stream.unlink();
      running.delete(streamId);
    }
  };
}
