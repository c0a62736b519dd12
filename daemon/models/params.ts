import * as z from 'zod/mini';
import type { ServerParams } from '../../protocol/messages/messageTypes.ts';
import type {
  CatalogParams,
  CreateModelParams,
  DeleteModelParams,
  ListModelsParams,
  ModelParams,
  ProbeCatalogParams,
  PullModelParams,
  RunModelParams,
} from '../../protocol/messages/models.ts';
import { exact, type Schema } from '../base/validate.ts';
import { keepAlive } from '../config/valueSchemas.ts';

const server = z.exactOptional(z.string());
const workDoneToken = z.exactOptional(z.union([z.string(), z.number()]));

export const serverParamsSchema: Schema<ServerParams> = exact(z.object({ server }));

export const listParamsSchema: Schema<ListModelsParams> = exact(
  z.object({
    server,
    refresh: z.exactOptional(z.boolean()),
    examine: z.exactOptional(z.boolean()),
    everywhere: z.exactOptional(z.boolean()),
  }),
);

export const modelParamsSchema: Schema<ModelParams> = exact(z.object({ server, model: z.string() }));

export const pullParamsSchema: Schema<PullModelParams> = exact(
  z.object({ server, model: z.string(), workDoneToken }),
);

export const runParamsSchema: Schema<RunModelParams> = exact(
  z.object({ server, model: z.string(), keepAlive: z.exactOptional(keepAlive()) }),
);

export const deleteParamsSchema: Schema<DeleteModelParams> = exact(
  z.object({ server, model: z.string(), stop: z.exactOptional(z.boolean()) }),
);

export const createParamsSchema: Schema<CreateModelParams> = exact(
  z.object({
    server,
    model: z.string(),
    path: z.exactOptional(z.string()),
    text: z.exactOptional(z.string()),
    workDoneToken,
  }),
);

export const probeCatalogParamsSchema: Schema<ProbeCatalogParams> = exact(z.object({ url: z.string() }));

export const catalogParamsSchema: Schema<CatalogParams> = exact(
  z.object({
    server,
    query: z.exactOptional(z.string()),
    refresh: z.exactOptional(z.boolean()),
    cached: z.exactOptional(z.boolean()),
  }),
);
