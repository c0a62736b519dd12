import { withoutUndefined } from '../../protocol/base/json.ts';
import type { Model, ParameterValue } from '../../protocol/messages/models.ts';
import type { ListedModel, Server, ShownModel } from '../runner/runner.ts';
import type { ModelCapabilities } from './modelCapabilities.ts';
import { familyOf } from './name.ts';

/** A model in the protocol's form: what the runner says, our family, and what is known about it. */
export function toModel(wire: ListedModel, server: Server, knowledge: ModelCapabilities): Model {
  const { name, size, digest, modifiedAt, family, parameterSize, quantization } = wire;
  const details = {
    family: family ?? '',
    parameterSize: parameterSize ?? '',
    quantization: quantization ?? '',
  };
  return withoutUndefined({
    name,
    server: server.name,
    family: familyOf(name),
    size,
    digest,
    modifiedAt,
    ...(family || parameterSize || quantization ? { details } : {}),
    ...knowledge.about(server, name),
    loading: wire.loading,
    remote:
      wire.remoteHost === undefined ? undefined : { host: wire.remoteHost, model: wire.remoteModel ?? name },
  });
}

/** The same model with what `ps` says about it. */
export function withRunning(model: Model, running: ListedModel | undefined): Model {
  if (!running) return model;
  const { expiresAt = new Date(0).toISOString(), size = 0, sizeVram = 0 } = running;
  return { ...model, running: { expiresAt, size, sizeVram } };
}

/** What `show` says about a model that is not in the list. */
export function shownAsListed(name: string, show: ShownModel): ListedModel {
  const { modifiedAt, family, parameterSize, quantization, remoteHost, remoteModel } = show;
  return withoutUndefined({ name, modifiedAt, family, parameterSize, quantization, remoteHost, remoteModel });
}

/** Reads the parameters of `show`: a name and a literal on each line. A repeated name becomes a list. Linear. */
export function parseParameters(
  text: string,
): Readonly<Record<string, ParameterValue | readonly ParameterValue[]>> {
  const values = new Map<string, ParameterValue[]>();
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const blank = trimmed.search(/\s/);
    const name = trimmed.slice(0, Math.max(0, blank));
    if (!/^\w+$/.test(name)) continue;
    const literal = parseLiteral(trimmed.slice(blank).trimStart());
    const list = values.get(name);
    if (list) list.push(literal);
    else values.set(name, [literal]);
  }
  return Object.fromEntries(
    [...values].map(([name, list]) => [name, list.length === 1 && list[0] !== undefined ? list[0] : list]),
  );
}

function parseLiteral(literal: string): ParameterValue {
  if (literal === 'true' || literal === 'false') return literal === 'true';
  if (literal.startsWith('"')) return unquote(literal);
  const number = Number(literal);
  return Number.isNaN(number) ? literal : number;
}

function unquote(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal.replace(/^"|"$/g, '');
  }
}
