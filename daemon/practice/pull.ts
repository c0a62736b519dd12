import { setImmediate as turn } from 'node:timers/promises';
import { answerLast, answerLines } from './answer.ts';
import type { Exchange, Runner } from './exchange.ts';
import { ApiFailure, badRequest } from './failure.ts';
import { type Layer, layersOf, type PracticeModel } from './model.ts';
import { fullName, type ModelName, nameKey, stubName, tryModelName } from './modelName.ts';
import { type Fields, parseBody, readFields, type Struct, textOf } from './requestBody.ts';

const pullRequest: Struct = {
  name: 'PullRequest',
  fields: { model: 'string', name: 'string', insecure: 'bool', stream: 'bool' },
};

export function pull(exchange: Exchange): Promise<void> {
  const fields = readFields(parseBody(exchange.text), pullRequest);
  const raw = stubName(textOf(fields['model']) || textOf(fields['name']));
  const name = tryModelName(raw);
  if (!name) throw badRequest('invalid model name');
  return answerProgress(
    exchange,
    fields,
    pullLines(exchange, name, { insecure: fields['insecure'] === true }),
  );
}

/** Sends progress as lines. Without a stream it sends only the last line, or the error. */
export function answerProgress(
  exchange: Exchange,
  fields: Fields,
  lines: AsyncIterable<object>,
): Promise<void> {
  if (fields['stream'] !== false) return answerLines(exchange, lines);
  return answerLast(exchange, lines, 'application/json');
}

/** The lines of a pull, layer after layer. It continues where an earlier pull was interrupted. */
export async function* pullLines(
  exchange: Exchange,
  name: ModelName,
  options: { readonly insecure: boolean },
): AsyncGenerator<object> {
  yield { status: 'pulling manifest' };
  const model = findInCatalog(exchange.runner, name, options.insecure);
  const layers = layersOf(model);
  for (const layer of layers) yield* layerLines(exchange, layer);
  yield { status: 'verifying sha256 digest' };
  yield { status: 'writing manifest' };
  exchange.runner.store.install({ ...model, name: fullName(name), modifiedAt: exchange.runner.clock.now() });
  yield { status: 'success' };
}

const step = 262_144;

async function* layerLines({ runner, signal }: Exchange, layer: Layer): AsyncGenerator<object> {
  const { digest, size: total } = layer;
  const line = { status: `pulling ${digest.slice(7, 19)}`, digest, total };
  if (runner.store.hasBlob(digest)) return yield { ...line, completed: total };
  let completed = runner.store.partOf(digest);
  // A layer that arrives at once has no line without bytes.
  if (completed === 0 && total > step) yield line;
  while (completed < total) {
    await (runner.pullStep > 0 ? runner.clock.delay(runner.pullStep, signal) : turn());
    signal.throwIfAborted();
    completed = Math.min(total, Math.max(completed, runner.store.partOf(digest)) + step);
    runner.store.keepPart(layer, completed);
    yield { ...line, completed };
  }
}

function findInCatalog({ catalog }: Runner, name: ModelName, insecure: boolean): PracticeModel {
  if (name.scheme === 'http' && !insecure) throw plainHttp(name);
  const model = catalog.find((one) => {
    const parsed = tryModelName(one.name);
    return parsed !== undefined && nameKey(parsed) === nameKey(name);
  });
  if (!model) throw new ApiFailure(500, 'pull model manifest: file does not exist');
  return model;
}

function plainHttp({ host, namespace, model, tag }: ModelName): ApiFailure {
  const address = `https://${host}/v2/${namespace}/${model}/manifests/${tag}`;
  const text = `Get "${address}": http: server gave HTTP response to HTTPS client`;
  return new ApiFailure(500, `pull model manifest: ${text}`);
}
