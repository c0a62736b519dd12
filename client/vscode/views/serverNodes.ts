import { defaultServerName } from '../../../protocol/initialize.ts';
import { type Failure, inShort } from '../convert/serverFailure.ts';
import type { Family } from './families.ts';
import { escapeMarkdown, type ViewRow } from './modelRows.ts';
import type { Outcome } from './rowStore.ts';

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

/** The servers that have something to show: models that pass the filter, or a failure. `arrange` makes the rows. */
export function toServerNodes(
  outcomes: readonly Outcome[],
  arrange: (rows: readonly ViewRow[]) => { readonly roots: ServerNode['roots']; readonly count: number },
): readonly ServerNode[] {
  return outcomes
    .map(({ name, rows, failure, note }) => ({
      server: name,
      ...arrange(rows),
      ...(failure && { failure }),
      ...(note !== undefined && { note }),
    }))
    .filter(({ count, failure }) => count > 0 || failure !== undefined);
}

/** What a server's row says. Its `address` is unknown if the settings have none that can be read. */
export function describeServer(
  { server, count, failure, note }: ServerNode,
  address: string | undefined,
): ServerText {
  const place = address === undefined ? '' : ` at ${address}`;
  const models = count === 1 ? '1 model' : `${count} models`;
  const trouble = failure && inShort(failure, place);
  const state = trouble ?? (note === undefined ? '' : 'last known list');
  const description = trouble ?? [`${count}`, state].filter(Boolean).join(' · ');
  const isDown = failure !== undefined || note !== undefined;
  const isClosed = failure?.kind === 'unauthorized';
  const setting = server === defaultServerName ? 'runner.host' : 'runner.servers';
  const sentences = [
    `**${escapeMarkdown(server)}**${escapeMarkdown(place)}`,
    escapeMarkdown(failure?.sentence ?? note ?? ''),
    `Its address is in the setting \`${setting}\`.`,
  ];
  return {
    description,
    label: [`server ${server}`, trouble ?? models, trouble ? '' : state].filter(Boolean).join(', '),
    tooltip: sentences.filter(Boolean).join('\n\n'),
    icon: isClosed ? 'lock' : isDown ? 'warning' : 'server',
    context: isClosed ? 'serverClosed' : isDown ? 'serverDown' : 'server',
  };
}
