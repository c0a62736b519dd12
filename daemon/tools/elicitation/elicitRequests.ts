import * as z from 'zod/mini';
import type { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import { type ElicitResult, elicitRequest } from '../../../protocol/messages/elicit.ts';
import { exact, type Schema } from '../../base/validate.ts';
import type { AskElicitation } from '../../chat/daemonTools.ts';
import type { Endpoint } from '../../rpc/endpoint.ts';

/** Asks through the client, one question at a time for each chat, whoever else asks by the same queue. */
export function elicitThrough(endpoint: Endpoint, questions: SerialQueue): AskElicitation {
  return (params, signal) =>
    questions.run(params.streamId, () => endpoint.request(elicitRequest, elicitSchema, { params, signal }));
}

const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** What a client answers. */
export const elicitSchema: Schema<ElicitResult> = exact(
  z.object({
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z.exactOptional(z.record(z.string(), value)),
  }),
);
