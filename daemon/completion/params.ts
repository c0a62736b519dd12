import * as z from 'zod/mini';
import type { CompletionAcceptedParams, InlineCompletionParams } from '../../protocol/completion.ts';
import type { Schema } from '../rpc/validate.ts';

const count = z.int().check(z.gte(0));

export const inlineCompletionParamsSchema: Schema<InlineCompletionParams> = z.object({
  textDocument: z.object({ uri: z.string() }),
  position: z.object({ line: count, character: count }),
  context: z.exactOptional(z.object({ triggerKind: z.int() })),
});

export const acceptedParamsSchema: Schema<CompletionAcceptedParams> = z.object({ id: z.string() });
