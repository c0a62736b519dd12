import * as z from 'zod/mini';
import type { ServerParams } from '../../protocol/messageTypes.ts';
import type { ListModelsParams, ModelParams } from '../../protocol/models.ts';
import type { Schema } from '../rpc/validate.ts';

const server = z.exactOptional(z.string());

export const serverParamsSchema: Schema<ServerParams> = z.object({ server });

export const listParamsSchema: Schema<ListModelsParams> = z.object({
  server,
  refresh: z.exactOptional(z.boolean()),
});

export const modelParamsSchema: Schema<ModelParams> = z.object({ server, model: z.string() });
