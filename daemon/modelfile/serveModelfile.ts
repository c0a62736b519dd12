import * as z from 'zod/mini';
import { parseModelfileRequest } from '../../protocol/messages/modelfile.ts';
import { createModelRequest } from '../../protocol/messages/models.ts';
import { exact } from '../base/validate.ts';
import type { ModelPlaces } from '../models/modelPlaces.ts';
import { createParamsSchema } from '../models/params.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { Works } from '../rpc/workDoneProgress.ts';
import type { Runner } from '../runner/runner.ts';
import { createModel } from './create.ts';
import { maxModelfileBytes, readModelfile, toParseResult } from './modelfile.ts';

export interface ModelfileDependencies {
  readonly places: ModelPlaces;
  readonly works: Works;
  /** Called when a model was created. */
  readonly onDidChange: (runner: Runner) => void;
}

/** Answers the requests about Modelfiles. */
export function serveModelfile(
  endpoint: Endpoint,
  { places, works, onDidChange }: ModelfileDependencies,
): void {
  const megabytes = maxModelfileBytes / 1024 / 1024;
  const text = z.string().check(z.maxLength(maxModelfileBytes, `it has more than ${megabytes} MB`));
  endpoint.onRequest(parseModelfileRequest, exact(z.object({ text })), async (params) =>
    toParseResult(readModelfile(params.text)),
  );
  endpoint.onRequest(createModelRequest, createParamsSchema, async (params, requested) => {
    const { runner, model } = await places.place(params, requested);
    const { workDoneToken: token } = params;
    await works.run({ title: `Creating ${model}`, token, signal: requested }, (report, signal) =>
      createModel(runner, { ...params, model }, { report, signal }),
    );
    onDidChange(runner);
    return { model };
  });
}
