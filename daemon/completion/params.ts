import * as z from 'zod/mini';
import type { CompletionAcceptedParams, InlineCompletionParams } from '../../protocol/completion.ts';
import { exact, type Schema } from '../validate.ts';

const count = z.int().check(z.gte(0));

const position = z.object({ line: count, character: count });

export const inlineCompletionParamsSchema: Schema<InlineCompletionParams> = exact(
  z.object({
    textDocument: z.object({ uri: z.string() }),
    position,
    context: z.exactOptional(
      z.object({
        triggerKind: z.int(),
        selectedCompletionInfo: z.exactOptional(
          z.object({ range: z.object({ start: position, end: position }), text: z.string() }),
        ),
      }),
    ),
  }),
);

export const acceptedParamsSchema: Schema<CompletionAcceptedParams> = exact(z.object({ id: z.string() }));
