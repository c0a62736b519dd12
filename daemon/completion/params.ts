import * as z from 'zod/mini';
import type { CompletionAcceptedParams, InlineCompletionParams } from '../../protocol/messages/completion.ts';
import { exact, type Schema } from '../base/validate.ts';
import { documentPositionFields, positionSchema as position } from '../rpc/documentPosition.ts';

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
