import type { Line } from './dialect.ts';

/** The kinds of alerts that GitHub has. */
export type AlertKind = 'note' | 'tip' | 'important' | 'warning' | 'caution';

/** The alert that stands for a kind of any program; undefined for other words. */
export function tryAlertKind(word: string): AlertKind | undefined {
  return alerts.get(word.toLowerCase().replace(/[\s_-]/g, ''));
}

const alerts: ReadonlyMap<string, AlertKind> = new Map(
  Object.entries({
    note:
      'note info abstract summary tldr todo example question help faq quote cite seealso topic versionadded ' +
      'versionchanged admonition highlight new',
    tip: 'tip hint success check done',
    important: 'important',
    warning: 'warning attention deprecated deprecation warn',
    caution: 'caution danger error bug failure fail missing',
  }).flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind as AlertKind] as const)),
);

/** A part of the text that is set off from the rest. */
export interface Container {
  readonly kind: 'alert' | 'details' | 'tab' | 'content';
  readonly label: string;
  /** The kind of an alert, as its author wrote it. */
  readonly word?: string;
  /** Whether a reader folds it: `-` if it is folded first. */
  readonly fold?: '' | '-' | '+';
}

/** What a word means in any program; undefined for other words. */
export function tryContainer(
  word: string,
  label: string,
  fold: Container['fold'] = '',
): Container | undefined {
  if (tryAlertKind(word) !== undefined) return { kind: 'alert', word, label, fold };
  const [kind] = Object.entries(words).find(([, pattern]) => pattern.test(word)) ?? [];
  return kind === undefined ? undefined : { kind: kind as Container['kind'], label, fold };
}

const words: Readonly<Record<Exclude<Container['kind'], 'alert'>, RegExp>> = {
  details: /^(?:details|dropdown|spoiler|collapse|collapsible|accordion|accordion-?item|expandable|expand)$/i,
  tab: /^tab(?:-?item)?$/i,
  /** It only arranges what is in it. */
  content:
    /^(?:v-pre|raw|code-?group|code-?tabs|tabs|tab-set|panel-tabset|steps|columns?|cards?|grid(?:-item(?:-card)?)?|center|left|right|div|section|figure|figure-caption|caption|html|define|image|table|list-table|margin|sidebar|epigraph|only)$/i,
};

/** The first line of an alert in GitHub's form. A label that says no more than the kind is left out. */
export function alertLine({ word = 'note', label, fold = '' }: Container): string {
  const kind = tryAlertKind(word) ?? 'note';
  const shown = label.trim() || (word.charAt(0).toUpperCase() + word.slice(1)).replace(/[-_]+/g, ' ');
  const isUsual = shown.toLowerCase() === kind && fold === '';
  return `[!${kind.toUpperCase()}]${fold}${isUsual ? '' : ` ${shown}`}`;
}

/** Lines as they stand in a container, which is followed by an empty line. Its own lines come from this one. */
export function containerLines(container: Container, inner: readonly Line[], line: number): readonly Line[] {
  const own = (...texts: readonly string[]) => texts.map((text) => ({ text, line }));
  switch (container.kind) {
    case 'alert': {
      const first = alertLine(container);
      // With a label, so that the label is a paragraph of its own for every reader of Markdown.
      const lines = [...own(first, ...(first.endsWith(']') ? [] : [''])), ...inner];
      return [...lines.map((one) => ({ ...one, text: `> ${one.text}`.trimEnd() })), ...own('')];
    }
    case 'details': {
      const summary = `<summary>${container.label.trim() || 'Details'}</summary>`;
      const open = container.fold === '+' ? '<details open>' : '<details>';
      return [...own('', open, summary, ''), ...inner, ...own('', '</details>', '')];
    }
    case 'tab':
      return [...own('', `**${container.label.trim()}**`, ''), ...inner, ...own('')];
    case 'content':
      return [...own(''), ...inner, ...own('')];
  }
}

/** Marks in the text where a container of tags begins or ends. No text has these characters. */
export const mark = { start: '\ufdd0', end: '\ufdd1' } as const;

export interface MarkedContainer extends Container {
  readonly name: string;
}

export function openingMark(container: MarkedContainer): string {
  return mark.start + JSON.stringify(container) + mark.end;
}

export function closingMark(name: string): string {
  return `${mark.start}/${name}${mark.end}`;
}
