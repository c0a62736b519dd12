import { formatBytes } from '../../../protocol/base/text.ts';
import { canChat, type Model, type ShowModelResult } from '../../../protocol/messages/models.ts';
import { type Product, productNames } from '../../../protocol/messages/status.ts';
import { describeLoading, withSources } from '../../shared/words.ts';
import { windowWithSource } from '../convert/contextSizes.ts';
import { type KnownServers, possible } from '../daemon/servers.ts';
import type { PageContent, PageSection } from '../ui/page.ts';
import { paramsOf } from './modelRow.ts';

type Servers = Pick<KnownServers, 'can' | 'those' | 'product'>;

/** Everything about one model, for a page. Its links are what the server can do. */
export function detailsOf(result: ShowModelResult, servers: Servers): PageContent {
  const { model, parameters = {}, system, template, license, modelfile } = result;
  const row = paramsOf({ model: model.name, server: model.server });
  const given = Object.entries(parameters).map(([name, value]) => [name, [value].flat().join(', ')] as const);
  const links = possible(
    servers,
    linksOf(model).map(([title, command]) => ({ title, command, arguments: [row] })),
  );
  return {
    title: model.name,
    sections: [
      { lines: [{ text: stateOf(model), links }] },
      { facts: factsOf(model, servers.product(model.server)) },
      ...(given.length > 0 ? [{ heading: 'Parameters', facts: given }] : []),
      ...text('System Prompt', system),
      ...text('Template', template),
      ...text('Modelfile', modelfile),
      ...text('License', license),
    ],
  };
}

function linksOf(model: Model): readonly (readonly [title: string, command: string])[] {
  const isHere = !model.remote;
  const isLoaded = model.running !== undefined;
  const links = [
    [canChat(model), 'Chat with This Model', 'runner.chatWithModel'],
    [isHere && model.capabilities.insert.value === true, 'Use for Completion', 'runner.completeWithModel'],
    [isHere && !isLoaded, 'Load', 'runner.runModel'],
    [isHere && isLoaded, 'Unload', 'runner.stopModel'],
    [true, 'Update', 'runner.updateModel'],
    [true, 'Open Page', 'runner.openModelPage'],
  ] as const;
  return links.flatMap(([fits, ...link]) => (fits ? [link] : []));
}

function stateOf({ running, remote, loading }: Model): string {
  if (remote) return `It runs at ${remote.host}.`;
  if (loading) return `It is ${describeLoading(loading)}.`;
  if (!running) return 'It is not loaded.';
  return `It is loaded${running.size === 0 ? '' : ` and takes ${formatBytes(running.size)} of memory`}.`;
}

function factsOf(model: Model, product: Product | undefined) {
  const { server, size, details, modifiedAt, digest } = model;
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ['Server', server],
    ['Product', product === undefined ? '' : productNames[product]],
    ['Size', size && formatBytes(size)],
    ['Parameters', details?.parameterSize],
    ['Quantization', details?.quantization],
    ['Family', details?.family],
    ['Capabilities', withSources(model)],
    ['Window', windowWithSource(model)],
    ['Modified', modifiedAt?.slice(0, 10)],
    ['Digest', digest?.slice(0, 12)],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, String(value)] as const] : []));
}

function text(heading: string, code: string | undefined): readonly PageSection[] {
  return code?.trim() ? [{ heading, code: code.trim() }] : [];
}

/**
 * The models of each server. Servers stay in their order. Loaded models come first; otherwise the order stays, which is
 * newest first.
 */
export function inOrder(
  models: readonly Model[],
): readonly (readonly [server: string, of: readonly Model[]])[] {
  const servers = new Map<string, Model[]>();
  for (const model of models) servers.set(model.server, [...(servers.get(model.server) ?? []), model]);
  return [...servers].map(([server, of]) => [server, of.toSorted((a, b) => rankOf(b) - rankOf(a))]);
}

function rankOf({ running }: Model): number {
  return running === undefined ? 0 : 1;
}

/** The words beside a model's name in a list: its size and its state. */
export function describeChoice({ size, running, remote }: Model): string {
  const sized = remote ? `runs at ${remote.host}` : size === undefined ? '' : formatBytes(size);
  return [sized, running ? 'loaded' : ''].filter(Boolean).join(' · ');
}
