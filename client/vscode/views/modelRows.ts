import { formatBytes } from '../../../protocol/base/text.ts';
import type { CatalogEntry, Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import {
  capabilityWords,
  describeLoading,
  shortWordOf,
  shortWords,
  staysForGood,
  withSources,
} from '../../shared/words.ts';
import { describeContext, inTokens, windowWithSource } from '../convert/contextSizes.ts';
import type { RunningPull } from '../models/pulls.ts';
import { escapeMarkdown } from '../ui/safeText.ts';

/** A row of a model view, before it becomes one of the editor's. */
export interface ViewRow {
  readonly model: string;
  readonly server?: string;
  readonly family: string;
  /** The runner's or the catalog's names of what the model can do. */
  readonly capabilities: readonly string[];
  /** The memory or disk space that it takes, shown first in its row. */
  readonly size?: string;
  /** The same in bytes, where it is known. */
  readonly bytes?: number;
  /** The text after the size. */
  readonly description: string;
  /** For a screen reader, after the name: the description in words. */
  readonly spoken: string;
  /** Markdown. */
  readonly tooltip: string;
  readonly icon: string;
  /** Decides which menu entries the row has. */
  readonly context: 'local' | 'loaded' | 'running' | 'library' | 'cloud';
  readonly url?: string;
  /** In a catalog's row, such as `8b`. */
  readonly sizes?: readonly string[];
  /** When the model is unloaded, in ms since 1970; absent if it stays. */
  readonly expiresAt?: number;
}

/** Every model answers, so `completion` has no word in a row. */
const { completion: _, ...rowWords } = shortWords;

/** For a screen reader. */
const sayings = {
  tools: 'calls tools',
  vision: 'sees images',
  thinking: 'thinks',
  insert: 'fills in code',
  embedding: 'embeds',
} as const;

export function localRow(model: Model): ViewRow {
  const { name, server, family, size, running, remote, loading } = model;
  const sized = remote ? 'remote' : size === undefined ? '' : formatBytes(size);
  const state = loading ? describeLoading(loading) : running ? 'loaded' : '';
  const marks = [state, markCapabilities(model), toRowName(name).path];
  return {
    model: name,
    server,
    family,
    capabilities: capabilitiesOf(model),
    size: sized,
    ...(size !== undefined && !remote && { bytes: size }),
    description: marks.filter(Boolean).join(' · '),
    spoken: spokenOf([remote ? 'runs elsewhere' : sized, ...sayCapabilities(model), state || 'not loaded']),
    tooltip: tooltipOf(model),
    icon: loading ? 'loading~spin' : running ? 'circle-filled' : remote ? 'cloud' : 'circle-outline',
    context: running ? 'loaded' : 'local',
    ...endOf(running),
  };
}

/** {@link describeRow} adds how long the model stays loaded, because that changes while the row does not. */
export function runningRow(model: Model): ViewRow {
  const { name, server, family, running, context } = model;
  const { size = 0, sizeVram = 0 } = running ?? {};
  const share = size === 0 ? undefined : Math.round((sizeVram / size) * 100);
  const window = describeContext(model);
  const { allocated } = context;
  const marks = [
    share === undefined ? '' : `${share} % GPU`,
    // The maximum is in the tooltip: a row has no room for both.
    allocated === undefined ? '' : inTokens(allocated),
    toRowName(name).path,
  ];
  return {
    model: name,
    server,
    family,
    capabilities: capabilitiesOf(model),
    // A server that does not say how much memory it takes has no figure.
    size: size === 0 ? '' : formatBytes(size),
    description: marks.filter(Boolean).join(' · '),
    spoken: spokenOf([
      size === 0 ? '' : `${formatBytes(size)} of memory`,
      share === undefined ? '' : `${share} percent of it on the GPU`,
      window === '' ? '' : `a window of ${window}`,
      ...sayCapabilities(model),
      'loaded',
    ]),
    tooltip: tooltipOf(model),
    icon: 'circle-filled',
    context: 'running',
    ...endOf(running),
  };
}

function endOf(running: Model['running']): Pick<ViewRow, 'expiresAt'> {
  const end = Date.parse(running?.expiresAt ?? '');
  return Number.isNaN(end) ? {} : { expiresAt: end };
}

export function catalogRow(entry: CatalogEntry, context: 'library' | 'cloud'): ViewRow {
  const { model, name, family, capabilities = [], sizes = [], description = '', installed, url } = entry;
  // Nearly every model can chat; users choose by the other capabilities.
  const special = capabilities.filter((name) => name !== 'completion');
  const marks = [sizes.join(' '), special.map(shortWordOf).join(' '), installed ? 'installed' : ''];
  return {
    model,
    family,
    url,
    context,
    sizes,
    capabilities,
    description: marks.filter(Boolean).join(' · '),
    spoken: spokenOf([
      sizes.length === 0 ? '' : `sizes ${sizes.join(', ')}`,
      ...special.map(sayingOf),
      installed ? 'installed' : 'not installed',
      description,
    ]),
    tooltip: `**${escapeMarkdown(name)}**${installed ? ' (installed)' : ''}\n\n${escapeMarkdown(description)}`,
    icon: installed ? 'check' : context === 'cloud' ? 'cloud' : 'cloud-download',
  };
}

/** The description of a row at this moment, in ms since 1970. */
export function describeRow(
  { model, size, description, spoken, context, expiresAt }: ViewRow,
  now: number,
): { readonly description: string; readonly label: string } {
  const left = expiresAt === undefined || context !== 'running' ? '' : timeLeft(expiresAt, now);
  return {
    description: [size, left, description].filter(Boolean).join(' · '),
    label: spokenOf([model, spoken, left]),
  };
}

/** How long after the end of a keep-alive its row is loaded again, at first and at most, in ms. */
const [firstLook, slowestLook] = [1_000, 60_000];

/**
 * When the rows should be loaded again, in ms since 1970: shortly after their ends, when the runner has unloaded them.
 * While it has not, ever more slowly: its clock may be another.
 */
export function endsOf(rows: readonly ViewRow[], now: number): readonly number[] {
  return rows.flatMap(({ expiresAt }) => {
    if (expiresAt === undefined || staysForGood(expiresAt, now)) return [];
    const over = now - expiresAt;
    return [over < firstLook ? expiresAt + firstLook : now + Math.min(over, slowestLook)];
  });
}

/** How long a model stays loaded. Both times are in ms since 1970. */
function timeLeft(expiresAt: number, now: number): string {
  if (staysForGood(expiresAt, now)) return 'stays';
  const seconds = Math.round((expiresAt - now) / 1000);
  if (seconds <= 0) return 'ending';
  if (seconds < 60) return `${seconds} s left`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min left` : `${Math.round(seconds / 3600)} h left`;
}

function capabilitiesOf({ capabilities }: Model): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, { value }]) => (value === true ? [name] : []));
}

function markCapabilities(model: Model): string {
  return capabilityWords(model, rowWords).join(' ');
}

function sayCapabilities(model: Model): readonly string[] {
  return capabilityWords(model, sayings, (saying) => `maybe ${saying}`);
}

function sayingOf(name: string): string {
  return Object.hasOwn(sayings, name) ? sayings[name as keyof typeof sayings] : name;
}

function spokenOf(parts: readonly string[]): string {
  return parts.filter(Boolean).join(', ');
}

function tooltipOf(model: Model): string {
  const { name, details, digest, modifiedAt, remote, size } = model;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Size', size === undefined || remote ? undefined : formatBytes(size)],
    ['Parameters', details?.parameterSize],
    ['Quantization', details?.quantization],
    ['Family', details?.family],
    ['Window', windowWithSource(model)],
    ['Can', withSources(model)],
    ['Runs at', remote?.host],
    ['Modified', modifiedAt?.slice(0, 10)],
    ['Digest', digest?.slice(0, 12)],
  ];
  const facts = rows
    .filter(([, value]) => value)
    .map(([title, value]) => `- ${title}: ${escapeMarkdown(value ?? '')}`);
  return [`**${escapeMarkdown(name)}**`, '', ...facts].join('\n');
}

/** The texts of a model's row while the model is pulled. */
export function describePull({
  model,
  server,
  percentage,
  message,
}: Pick<RunningPull, 'model' | 'server' | 'percentage' | 'message'>) {
  const share = percentage === undefined ? '' : `${percentage} %`;
  const where = server === defaultServerName ? '' : server;
  return {
    description: [share || 'pulling', where, toRowName(model).path].filter(Boolean).join(' · '),
    tooltip: message === '' ? `Pulling ${model}` : `${model}: ${message}`,
    /** For a screen reader. */
    label: [`${model} is being pulled`, share && `${percentage} percent`].filter(Boolean).join(', '),
  };
}

/**
 * A model's name as a row shows it: the last part of the name, with its tag; the middle of a long one is left out.
 * `path` is what comes before it, such as `hf.co/owner`; `""` for most names.
 */
export function toRowName(name: string) {
  const slash = name.lastIndexOf('/');
  return { label: fitLabel(name.slice(slash + 1)), path: name.slice(0, Math.max(0, slash)) };
}

/** In characters: about what a row of a family has room for in a sidebar of the usual width. */
const maxLabel = 28;

/**
 * The editor cuts a label at its end, where the variants of a model differ. So the tag stays as it is, or the end of a
 * long tag.
 */
function fitLabel(label: string): string {
  if (label.length <= maxLabel) return label;
  const tag = /:[^:]*$/.exec(label)?.[0] ?? '';
  const end = tag !== '' && tag.length <= maxLabel / 2 ? tag : label.slice(-maxLabel / 2);
  return `${label.slice(0, maxLabel - 1 - end.length)}…${end}`;
}
