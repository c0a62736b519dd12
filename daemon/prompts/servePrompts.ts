import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import {
  type AllowPromptsParams,
  allowPromptsRequest,
  type CompletePromptParams,
  completePromptRequest,
  type GetPromptParams,
  getPromptRequest,
  type ListPromptsParams,
  listPromptsRequest,
} from '../../protocol/messages/prompts.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { PromptPlace, Prompts } from './prompts.ts';

/** Answers the requests about prompts, which are loaded when they are first needed. */
export function servePrompts(
  endpoint: Endpoint,
  prompts: () => Promise<Prompts>,
  place: (signal: AbortSignal) => PromptPlace,
): void {
  endpoint.onRequest(listPromptsRequest, listSchema, async (params, signal) =>
    (await prompts()).list(params, place(signal)),
  );
  endpoint.onRequest(getPromptRequest, getSchema, async (params, signal) =>
    (await prompts()).get(params, place(signal)),
  );
  endpoint.onRequest(completePromptRequest, completeSchema, async (params, signal) =>
    (await prompts()).complete(params, place(signal)),
  );
  endpoint.onRequest(allowPromptsRequest, allowSchema, async (params, signal) =>
    (await prompts()).allow(params, place(signal)),
  );
}

const cwd = z.exactOptional(z.string().check(z.refine(isAbsolute, 'it is not an absolute path')));
const maxText = 1_000_000;
const text = z.string().check(z.maxLength(maxText, 'it is longer than 1,000,000 characters'));

const listSchema: Schema<ListPromptsParams> = exact(
  z.object({
    cwd,
    wait: z.exactOptional(z.boolean()),
    commands: z.exactOptional(z.array(z.string()).check(z.maxLength(1_000, 'there are more than 1,000'))),
  }),
);

const getSchema: Schema<GetPromptParams> = exact(
  z.object({
    cwd,
    name: z.string().check(z.maxLength(300, 'it is longer than 300 characters')),
    text: z.exactOptional(text),
    values: z.exactOptional(z.record(z.string(), text)),
  }),
);

const completeSchema: Schema<CompletePromptParams> = exact(
  z.object({
    cwd,
    name: z.string().check(z.maxLength(300, 'it is longer than 300 characters')),
    argument: z.string(),
    value: text,
    values: z.exactOptional(z.record(z.string(), text)),
  }),
);

const allowSchema: Schema<AllowPromptsParams> = exact(z.object({ cwd, allowed: z.boolean() }));
