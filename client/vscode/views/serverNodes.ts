import { type Failure, inShort } from '../convert/serverFailure.ts';
import type { Family } from './families.ts';
import { escapeMarkdown, type ViewRow } from './modelRows.ts';
import type { Outcome } from './rowStore.ts';
import { isEmpty } from './viewState.ts';

/** A server among several: its models are below it, and one that fails is a row without any. */
export interface ServerNode {
  readonly server: string;
  readonly roots: readonly (ViewRow | Family<ViewRow>)[];
  /** How many models are below it. */
  readonly count: number;
  readonly failure?: Failure;
  /** A sentence about the quality of the models, such as their age. */
  readonly note?: string;
}

export interface ServerText {
  readonly description: string;
  /** For a screen reader. */
  readonly label: string;
  /** Markdown. */
  readonly tooltip: string;
  readonly icon: string;
  /** Decides which menu entries the row has. */
  readonly context: 'server' | 'serverDown' | 'serverClosed';
}

/**
 * The servers that have something to show: models that pass the filter, a failure, or that they have no models. If none
 * has any, a text in place of the rows says so. `arrange` makes the rows.
 */
export function toServerNodes(
  outcomes: readonly Outcome[],
  arrange: (rows: readonly ViewRow[]) => { readonly roots: ServerNode['roots']; readonly count: number },
): readonly ServerNode[] {
  if (isEmpty(outcomes)) return [];
  return outcomes.flatMap(({ name, rows, failure, note }) => {
    const shown = arrange(rows);
    if (rows.length > 0 && shown.count === 0) return [];
    return { server: name, ...shown, ...(failure && { failure }), ...(note !== undefined && { note }) };
  });
}

/** What a server's row says. Its `address` is unknown if the settings have none that can be read. */
export function describeServer(
  { server, count, failure, note }: ServerNode,
  address: string | undefined,
): ServerText {
  const place = address === undefined ? '' : ` at ${address}`;
  const models = count === 1 ? '1 model' : `${count || 'no'} models`;
  const trouble = failure && inShort(failure, place);
  const state = trouble ?? (note === undefined ? '' : 'last known list');
  const description = trouble ?? [count === 0 ? models : `${count}`, state].filter(Boolean).join(' · ');
  const isDown = failure !== undefined || note !== undefined;
  const isClosed = failure?.kind === 'unauthorized';
  const sentences = [
    `**${escapeMarkdown(server)}**${escapeMarkdown(place)}`,
    escapeMarkdown(failure?.sentence ?? note ?? ''),
    'Set Address changes its address.',
  ];
  return {
    description,
    label: [`server ${server}`, trouble ?? models, trouble ? '' : state].filter(Boolean).join(', '),
    tooltip: sentences.filter(Boolean).join('\n\n'),
    icon: isClosed ? 'lock' : isDown ? 'warning' : 'server',
    context: isClosed ? 'serverClosed' : isDown ? 'serverDown' : 'server',
  };
}
