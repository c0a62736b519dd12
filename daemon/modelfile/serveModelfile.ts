import * as z from 'zod/mini';
import { parseModelfileRequest } from '../../protocol/modelfile.ts';
import { createModelRequest } from '../../protocol/models.ts';
import { createParamsSchema } from '../models/params.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { Works } from '../rpc/work.ts';
import type { RunnerClient } from '../runner/client.ts';
import type { Servers } from '../runner/servers.ts';
import { createModel } from './create.ts';
import { readModelfile, toParseResult } from './modelfile.ts';

export interface ModelfileParts {
  readonly servers: Servers;
  readonly works: Works;
  /** A model was created. */
  readonly onDidChange: (client: RunnerClient) => void;
}

/** The requests about Modelfiles. */
export function serveModelfile(endpoint: Endpoint, { servers, works, onDidChange }: ModelfileParts): void {
  endpoint.onRequest(parseModelfileRequest, z.object({ text: z.string() }), async ({ text }) =>
    toParseResult(readModelfile(text)),
  );
  endpoint.onRequest(createModelRequest, createParamsSchema, async (params, requested) => {
    const client = servers.client(params.server);
    const { model, workDoneToken: token } = params;
    await works.run({ title: `Creating ${model}`, token, signal: requested }, (report, signal) =>
      createModel(client, params, { report, signal }),
    );
    onDidChange(client);
    return { model };
  });
}
