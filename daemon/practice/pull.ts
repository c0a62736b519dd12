import {
  ApiFailure,
  badRequest,
  type Fields,
  fieldsOf,
  type HttpAnswer,
  nameIn,
  type Practice,
  type Request,
} from './exchange.ts';
import { type Layer, layersOf, type ModelName, tryModelName } from './model.ts';

export function pull(practice: Practice, request: Request): Promise<HttpAnswer> {
  const fields = fieldsOf(request);
  const name = tryModelName(nameIn(fields));
  if (!name) throw badRequest('invalid model name');
  return answerProgress(fields, pullLines(practice, name, request.signal));
}

/** Progress as lines, or only the last of them if no stream was requested. */
export async function answerProgress({ stream }: Fields, lines: AsyncIterable<Fields>): Promise<HttpAnswer> {
  if (stream !== false) return { lines };
  let json = {};
  for await (const line of lines) json = line;
  return { json };
}

/** The lines of a pull, layer after layer. It continues where an earlier pull was interrupted. */
export async function* pullLines(
  practice: Practice,
  name: ModelName,
  signal: AbortSignal,
): AsyncGenerator<Fields> {
  yield { status: 'pulling manifest' };
  const model = practice.catalog.find((one) => tryModelName(one.name)?.key === name.key);
  if (!model) throw new ApiFailure(500, 'pull model manifest: file does not exist');
  for (const layer of layersOf(model)) yield* layerLines(practice, layer, signal);
  yield { status: 'verifying sha256 digest' };
  yield { status: 'writing manifest' };
  practice.store.install({ ...model, name: name.full });
  yield { status: 'success' };
}

/** Bytes and milliseconds between two lines, as in a real runner. */
const step = { bytes: 262_144, time: 60 };

async function* layerLines(
  { store, clock }: Practice,
  { digest, size: total }: Layer,
  signal: AbortSignal,
): AsyncGenerator<Fields> {
  const line = { status: `pulling ${digest.slice(7, 19)}`, digest, total };
  if (store.blobs.has(digest)) return yield { ...line, completed: total };
  let completed = store.parts.get(digest) ?? 0;
  // A layer that arrives at once has no line without bytes.
  if (completed === 0 && total > step.bytes) yield line;
  while (completed < total) {
    await clock.delay(step.time, signal);
    completed = Math.min(total, Math.max(completed, store.parts.get(digest) ?? 0) + step.bytes);
    store.parts.set(digest, completed);
    yield { ...line, completed };
  }
  store.parts.delete(digest);
  store.blobs.add(digest);
}
