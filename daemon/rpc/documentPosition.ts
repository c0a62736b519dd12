import * as z from 'zod/mini';
import type { DocumentPosition } from '../../protocol/messages/completion.ts';
import { exact, type Schema } from '../base/validate.ts';

const count = z.int().check(z.gte(0));

export const positionSchema = z.object({ line: count, character: count });

export const documentPositionFields = {
  textDocument: z.object({ uri: z.string() }),
  position: positionSchema,
};

/** A place in a document; what else LSP sends with it is not read. */
export const documentPositionSchema: Schema<DocumentPosition> = exact(z.object(documentPositionFields));
