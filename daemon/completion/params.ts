import * as z from 'zod/mini';
import type { CompletionAcceptedParams, InlineCompletionParams } from '../../protocol/completion.ts';
import { documentPositionFields, positionSchema as position } from '../rpc/documentPosition.ts';
import { exact, type Schema } from '../validate.ts';

export const inlineCompletionParamsSchema: Schema<InlineCompletionParams> = exact(
  z.object({
    ...documentPositionFields,
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
