import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { type Ability, productNames } from '../../../protocol/messages/status.ts';
import type { KnownServers } from '../daemon/knownServers.ts';

/**
 * The server for work that no row has named one for: the one at `runner.host` if it can do it, or else one that can,
 * which the user chooses if there are several. If none can, the default one refuses with a sentence. Undefined if the
 * user leaves the list.
 */
export async function chooseServer(
  facts: Pick<KnownServers, 'those' | 'product'>,
  ability: Ability,
  pick: PickServer,
): Promise<{ readonly server?: string } | undefined> {
  const able = facts.those(ability);
  const [only, ...others] = able;
  if (only === undefined || able.includes(defaultServerName)) return {};
  if (others.length === 0) return { server: only };
  const items = able.map((label) => {
    const product = facts.product(label);
    return { label, description: product === undefined ? '' : productNames[product] };
  });
  const chosen = await pick(items, { title: 'On Which Server?' });
  return chosen && { server: chosen.label };
}

/** The editor's own list. */
type PickServer = <Item extends { readonly label: string; readonly description: string }>(
  items: readonly Item[],
  options: { readonly title: string },
) => PromiseLike<Item | undefined>;

/** The server whose catalog counts: the one at `runner.host` if it has one, or else the first that has. */
export function catalogServer(facts: Pick<KnownServers, 'those'>): { readonly server: string } {
  const [server = defaultServerName] = facts.those('catalog');
  return { server };
}
