import { dirname } from 'node:path';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { CreateModelParams } from '../../protocol/messages/models.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { createDownloadProgress } from '../models/downloadProgress.ts';
import { parseModelName } from '../models/name.ts';
import type { Report, WorkState } from '../rpc/work.ts';
import type { RunnerClient } from '../runner/client.ts';
import { createBody } from './createBody.ts';
import { hasErrors, type Modelfile, readModelfile, toDiagnostics } from './modelfile.ts';
import { maxModelfileBytes, readModelfileText } from './modelfileText.ts';
import type { Problem } from './parser.ts';
import { type ModelSources, resolveSources } from './resolve.ts';
import { createUploads } from './uploads.ts';

export interface CreateWatch {
  readonly report: Report;
  readonly signal: AbortSignal;
}

/**
 * Creates a model from a Modelfile: reads and checks it, uploads its files to the runner, and lets the runner create
 * the model.
 * @throws {RunnerError} `invalid-modelfile` with `diagnostics`, before anything is sent.
 */
export async function createModel(
  client: RunnerClient,
  params: CreateModelParams,
  { report, signal }: CreateWatch,
): Promise<void> {
  const { model } = params;
  parseModelName(model);
  report({ message: 'Reading the Modelfile' });
  const { text, folder } = await readSource(params);
  const modelfile = readModelfile(text);
  const sources = await resolveSources(modelfile.commands, folder, signal);
  refuseMistakes(modelfile, sources.problems);
  signal.throwIfAborted();

  let last: WorkState | undefined;
  const uploads = createUploads(client, filesOf(sources), (state) => {
    last = state;
    report(state);
  });
  const { from, files, adapters, drafts } = sources;
  const body = createBody(
    withoutUndefined({
      model,
      commands: modelfile.commands,
      from,
      files: await uploads.send(files, signal),
      adapters: await uploads.send(adapters, signal),
      drafts: await uploads.send(drafts, signal),
    }),
  );
  // After the uploads the runner reports what it does. It counts only while it downloads or converts.
  const progressOf = createDownloadProgress();
  try {
    for await (const lines of client.create(body, signal))
      for (const line of lines) report({ ...last, ...progressOf(line) });
  } catch (error) {
    throw error instanceof RunnerError && error.kind === 'model-not-found' ? unknownBase(error, from) : error;
  }
}

/** The text, and the folder from which its relative paths start. */
async function readSource({ path, text }: CreateModelParams): Promise<{ text: string; folder?: string }> {
  if ((path === undefined) === (text === undefined))
    throw new InvalidParamsError('path', 'give either "path" or "text", not both');
  if (path !== undefined) return { text: await readModelfileText(path), folder: dirname(path) };
  if (text !== undefined && text.length <= maxModelfileBytes) return { text };
  throw new InvalidParamsError('text', `it has more than ${maxModelfileBytes / 1024 / 1024} MB`);
}

function refuseMistakes(modelfile: Modelfile, ofSources: readonly Problem[]): void {
  const problems = [...modelfile.problems, ...ofSources];
  if (!hasErrors(problems)) return;
  const diagnostics = toDiagnostics(modelfile.document, problems);
  const first = diagnostics.find(({ severity }) => severity === 1);
  const line = (first?.range.start.line ?? 0) + 1;
  throw new RunnerError(
    'invalid-modelfile',
    `The Modelfile has a mistake on line ${line}: ${first?.message ?? ''} Correct it and create the model again.`,
    { details: { diagnostics } },
  );
}

function filesOf({ files, adapters, drafts }: ModelSources) {
  return [...files, ...adapters, ...drafts];
}

/** The request names the new model, but the model that the runner does not know is the one after FROM. */
function unknownBase(error: RunnerError, from = 'a model'): RunnerError {
  return new RunnerError(
    'model-not-found',
    `The Modelfile starts from ${from}, which is neither installed nor in the registry. Check the name after FROM.`,
    { details: error.details, cause: error },
  );
}
