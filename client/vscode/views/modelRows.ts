import type { CatalogEntry, Model } from '../../../protocol/models.ts';

/** A row of a model view, before it is one of the editor's. */
export interface ViewRow {
  readonly model: string;
  readonly server?: string;
  readonly family: string;
  readonly description: string;
  /** Markdown. */
  readonly tooltip: string;
  readonly icon: string;
  /** What the menus show for it. */
  readonly context: 'local' | 'loaded' | 'running' | 'library' | 'cloud';
  readonly url?: string;
}

const words = {
  tools: 'tools',
  vision: 'vision',
  thinking: 'thinking',
  insert: 'insert',
  embedding: 'embed',
} as const;

export function localRow(model: Model): ViewRow {
  const { name, server, family, size, running, remote } = model;
  const marks = [remote ? 'remote' : size === undefined ? '' : formatBytes(size), ...capabilitiesOf(model)];
  return {
    ...{ model: name, server, family },
    description: [...marks, running ? 'loaded' : ''].filter(Boolean).join(' · '),
    tooltip: tooltipOf(model),
    icon: running ? 'circle-filled' : remote ? 'cloud' : 'circle-outline',
    context: running ? 'loaded' : 'local',
  };
}

/** `now` in ms since 1970. */
export function runningRow(model: Model, now: number): ViewRow {
  const { name, server, family, running, context } = model;
  const { size = 0, sizeVram = 0, expiresAt = '' } = running ?? {};
  const share = size === 0 ? '' : `${Math.round((sizeVram / size) * 100)} % GPU`;
  const window = context.allocated === undefined ? '' : `${context.allocated.toLocaleString('en-US')} tokens`;
  return {
    ...{ model: name, server, family },
    description: [formatBytes(size), share, window, timeLeft(expiresAt, now)].filter(Boolean).join(' · '),
    tooltip: tooltipOf(model),
    icon: 'circle-filled',
    context: 'running',
  };
}

export function catalogRow(entry: CatalogEntry, context: 'library' | 'cloud'): ViewRow {
  const { model, name, family, capabilities = [], sizes = [], description = '', installed, url } = entry;
  return {
    ...{ model, family, url, context },
    description: [sizes.join(' '), capabilities.join(' ')].filter(Boolean).join(' · '),
    tooltip: `**${name}**${installed ? ' (installed)' : ''}\n\n${escapeMarkdown(description)}`,
    icon: installed ? 'check' : context === 'cloud' ? 'cloud' : 'cloud-download',
  };
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** How long a model stays loaded: beyond a year is for ever. */
export function timeLeft(expiresAt: string, now: number): string {
  const seconds = Math.round((Date.parse(expiresAt) - now) / 1000);
  if (Number.isNaN(seconds)) return '';
  if (seconds > 31_536_000) return 'stays';
  if (seconds <= 0) return 'ending';
  if (seconds < 60) return `${seconds} s left`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min left` : `${Math.round(seconds / 3600)} h left`;
}

function capabilitiesOf({ capabilities }: Model): readonly string[] {
  const able = Object.entries(words).flatMap(([name, word]) => {
    const { value, from } = capabilities[name as keyof typeof words];
    return value === true ? [from === 'name' ? `${word}?` : word] : [];
  });
  return able.length === 0 ? [] : [able.join(' ')];
}

function tooltipOf({ name, details, context, digest, modifiedAt, remote }: Model): string {
  const { allocated, configured, maximum } = context;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Parameters', details?.parameterSize],
    ['Quantization', details?.quantization],
    ['Family', details?.family],
    ['Window', [allocated ?? configured, maximum].filter((tokens) => tokens !== undefined).join(' of ')],
    ['Runs at', remote?.host],
    ['Modified', modifiedAt?.slice(0, 10)],
    ['Digest', digest?.slice(0, 12)],
  ];
  const told = rows
    .filter(([, value]) => value)
    .map(([title, value]) => `- ${title}: ${escapeMarkdown(value ?? '')}`);
  return [`**${escapeMarkdown(name)}**`, '', ...told].join('\n');
}

/** Names and descriptions are a stranger's text. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!|<>]/g, '\\$&');
}
