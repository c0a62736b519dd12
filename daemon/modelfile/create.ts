import { dirname } from 'node:path';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { CreateModelParams } from '../../protocol/messages/models.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { createDownloadProgress } from '../models/lifecycle.ts';
import { parseModelName } from '../models/name.ts';
import type { Report, WorkState } from '../rpc/workDoneProgress.ts';
import { type CreateRequest, type Runner, requireMembers } from '../runner/runner.ts';
import {
  hasErrors,
  type Modelfile,
  maxModelfileBytes,
  readModelfile,
  readModelfileText,
  toDiagnostics,
  tryParameterValue,
} from './modelfile.ts';
import { type ModelSources, resolveSources } from './modelSources.ts';
import type { Instruction, Problem } from './parser.ts';
import { Uploads } from './uploads.ts';
import { parameterWords } from './vocabulary.ts';

/**
 * Creates a model from a Modelfile: reads and checks it, uploads its files to the runner, and lets the runner create
 * the model.
 * @throws {RunnerError} `invalid-modelfile` with `diagnostics`, before anything is sent.
 */
export async function createModel(
  runner: Runner,
  params: CreateModelParams,
  { report, signal }: { readonly report: Report; readonly signal: AbortSignal },
): Promise<void> {
  const { model } = params;
  requireMembers(runner, 'create', 'hasBlob', 'uploadBlob');
  parseModelName(model);
  report({ message: 'Reading the Modelfile' });
  const { text, folder } = await readSource(params);
  const modelfile = readModelfile(text);
  const sources = await resolveSources(modelfile.commands, folder, signal);
  refuseMistakes(modelfile, sources.problems);

  let last: WorkState | undefined;
  const uploads = new Uploads(runner, filesOf(sources), (state) => {
    last = state;
    report(state);
  });
  const { from, files, adapters, drafts } = sources;
  const request = createRequest(
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
    for await (const lines of runner.create(request, signal))
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

interface Parts extends Pick<CreateRequest, 'model' | 'from' | 'files' | 'adapters' | 'drafts'> {
  readonly commands: readonly Instruction[];
}

/** What to ask for, from commands without mistakes. The last of several counts, but for licences and messages. */
export function createRequest({ commands, ...parts }: Parts): CreateRequest {
  const valuesOf = (name: string) =>
    commands.filter((command) => command.name === name).map(({ args }) => args);
  const last = (name: string) => valuesOf(name).at(-1)?.[0].text;
  return withoutUndefined({
    ...parts,
    parameters: parametersOf(valuesOf('parameter').map(([name, value]) => [name.text, value?.text ?? ''])),
    template: last('template'),
    system: last('system'),
    renderer: last('renderer'),
    parser: last('parser'),
    requires: last('requires')?.replace(/^v/, ''),
    license: valuesOf('license').map(([{ text }]) => text),
    messages: valuesOf('message').map(([role, content]) => ({
      role: role.text,
      content: content?.text ?? '',
    })),
  });
}

/** The values in their types. A list parameter keeps all of its values, the others only the last one. */
function parametersOf(pairs: readonly (readonly [string, string])[]): Readonly<Record<string, unknown>> {
  const parameters = new Map<string, unknown>();
  const lists = new Map<string, unknown[]>();
  for (const [name, text] of pairs) {
    const word = parameterWords.get(name);
    // Unknown names were reported as problems before; deprecated ones are left out.
    if (!word) continue;
    const value = tryParameterValue(word.type, text);
    const list = lists.get(name) ?? [];
    list.push(value);
    lists.set(name, list);
    parameters.set(name, word.isList ? list : value);
  }
  return Object.fromEntries(parameters);
}
