import { isLoopback } from '../../../protocol/base/loopback.ts';
import {
  defaultHost,
  parseAddress,
  type RunnerOptions,
  type ServerOptions,
} from '../../../protocol/messages/settings.ts';
import type { ContinueConfig, ImportedModel } from './continueConfig.ts';

/** One thing that an import would do. The user sees all of it but the key. */
export type ImportStep =
  | {
      readonly kind: 'setting';
      readonly name: ImportedSetting;
      readonly value: string | number | readonly string[];
    }
  | { readonly kind: 'server'; readonly server: ServerOptions }
  | { readonly kind: 'key'; readonly origin: string; readonly key: string };

type ImportedSetting = 'host' | 'chatModel' | 'completionModel' | 'contextLength' | 'exclude';

type Now = Pick<
  RunnerOptions,
  'host' | 'servers' | 'chatModel' | 'completionModel' | 'contextLength' | 'exclude'
>;

/** Continue has it in the place of a name: every model of the server. */
const everyModel = 'AUTODETECT';

/**
 * What would change. The runner at `host` is the one whose model chats, on this machine if there is one: both settings
 * that name a model name one of that runner.
 */
export function planImport(config: ContinueConfig, now: Now) {
  const { models, excluded, isCompletionOff } = config;
  const onThisMachine = models.filter(({ url }) => isLoopback(url));
  const [main = models[0]] = [onThisMachine, models].flatMap((some) => [
    ...withRole(some, 'chat'),
    ...withRole(some, 'autocomplete'),
  ]);
  if (main === undefined) return { steps: [], leftOut: config.leftOut };
  const here = models.filter(({ url }) => isSamePlace(url, main.url));
  const chat = withRole(here, 'chat').find(({ name }) => name !== everyModel);
  const completing = withRole(models, 'autocomplete').filter(({ name }) => name !== everyModel);
  const completion = isCompletionOff ? undefined : completing.find((model) => here.includes(model));
  const exclude = [...new Set([...(now.exclude ?? []), ...excluded])];
  const wanted = {
    host: main.url,
    chatModel: chat?.name,
    completionModel: completion?.name,
    contextLength: chat?.contextLength,
    exclude: excluded.length === 0 ? undefined : exclude,
  } as const;
  const steps = (Object.keys(wanted) as ImportedSetting[]).flatMap((name): readonly ImportStep[] => {
    const value = wanted[name];
    return value === undefined || isSet(name, value, now) ? [] : [{ kind: 'setting', name, value }];
  });
  return {
    steps: [...steps, ...serverSteps(models, main, now), ...keySteps(models)],
    leftOut: [
      ...config.leftOut,
      ...completing
        .filter((model) => !here.includes(model))
        .map(
          ({ name, url }) =>
            `${name} for completion (it is at ${url}, and completion uses the runner at runner.host)`,
        ),
      ...(isCompletionOff && completing.length > 0 ? ['completion (Continue has it switched off)'] : []),
      ...(models.some(({ roles }) => roles.includes('embed'))
        ? ['models that embed (@runner searches by words)']
        : []),
    ],
  };
}

function withRole(models: readonly ImportedModel[], role: string): readonly ImportedModel[] {
  return models.filter(({ roles }) => roles.includes(role));
}

/** `localhost` is where `127.0.0.1` is. */
function isSamePlace(one: string, other: string): boolean {
  return placeOf(one) === placeOf(other);
}

function placeOf(address: string): string {
  return isLoopback(address)
    ? address.replace(/^(https?:\/\/)(?:\[::1\]|[^/:]+)/, (_, scheme) => `${scheme}127.0.0.1`)
    : address;
}

function isSet(name: ImportedSetting, value: unknown, now: Now): boolean {
  if (name !== 'host') return JSON.stringify(now[name]) === JSON.stringify(value);
  const address = now.host ?? '';
  const current = tryAddress(address === '' ? defaultHost : address);
  return current !== undefined && isSamePlace(current, String(value));
}

function tryAddress(text: string): string | undefined {
  try {
    return parseAddress(text);
  } catch {
    return undefined;
  }
}

function serverSteps(models: readonly ImportedModel[], main: ImportedModel, now: Now): readonly ImportStep[] {
  const servers = now.servers ?? [];
  const known = [main.url, ...servers.flatMap(({ url }) => tryAddress(url) ?? [])].map(placeOf);
  const names = new Set(['default', ...servers.map(({ name }) => name)]);
  return models.flatMap(({ url, provider }): readonly ImportStep[] => {
    if (known.includes(placeOf(url))) return [];
    known.push(placeOf(url));
    const name = freeName(provider, names);
    names.add(name);
    return [{ kind: 'server', server: { name, url } }];
  });
}

function freeName(provider: string, names: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? provider : `${provider}-${number}`;
    if (!names.has(name)) return name;
  }
}

/** A key belongs to the origin of its address, and the first one counts. */
function keySteps(models: readonly ImportedModel[]): readonly ImportStep[] {
  const keys = new Map<string, string>();
  for (const { url, key } of models) {
    const { origin } = new URL(url);
    if (key !== undefined && !keys.has(origin)) keys.set(origin, key);
  }
  return [...keys].map(([origin, key]) => ({ kind: 'key', origin, key }));
}

/** A step in words: what is set, to what, and what it is now. Ticked at first is what stays on this machine. */
export function toRow(step: ImportStep, now: Now) {
  if (step.kind === 'key')
    return {
      label: `Token for ${step.origin}`,
      description: 'kept in the secret storage, sent only there',
      picked: isLoopback(step.origin),
      step,
    };
  if (step.kind === 'server') {
    const { name, url } = step.server;
    const where = isLoopback(url) ? '' : ', not on this machine';
    return { label: `runner.servers: ${name}`, description: `${url}${where}`, picked: isLoopback(url), step };
  }
  const before = now[step.name];
  const value = typeof step.value === 'object' ? step.value.join(', ') : String(step.value);
  const replaced = before === undefined || step.name === 'exclude' ? '' : `, now ${String(before)}`;
  const where = step.name === 'host' && !isLoopback(value) ? ', not on this machine' : '';
  return {
    label: `runner.${step.name}`,
    description: `${value}${where}${replaced}`,
    picked: where === '',
    step,
  };
}
