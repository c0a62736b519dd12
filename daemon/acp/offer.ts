import type { SessionConfigOption } from '@agentclientprotocol/sdk';
import { canChat } from '../../protocol/messages/choice.ts';
import type { ChatModelResult, Model } from '../../protocol/messages/models.ts';
import type { Core } from '../compose/core.ts';
import type { Update } from './client.ts';
import { pickersOf } from './pickers.ts';
import type { Session, Sessions } from './sessions.ts';

/** The models that can chat, as they were last listed, and what the sessions know of them. */
export interface Offer {
  readonly models: readonly Model[];
  /** Asks the runner; `refresh: false` is content with a list of the last two seconds. */
  list(signal: AbortSignal, options?: { readonly refresh: boolean }): Promise<void>;
  /** The session's pickers, which it knows from now on. */
  pickers(session: Session): SessionConfigOption[];
  /** Gives each session a model that is there, and tells those whose pickers are others now. */
  settle(update: Update): Promise<void>;
}

export interface OfferParts {
  readonly core: Pick<Core, 'models' | 'chatModels' | 'servers'>;
  readonly sessions: Sessions;
}

export function createOffer({ core, sessions }: OfferParts): Offer {
  let models: readonly Model[] = [];
  let preferred: ChatModelResult = {};
  const pickers = (session: Session) => {
    settleModel(session, models, preferred);
    const options = pickersOf(models, session);
    session.told = JSON.stringify(options);
    return options;
  };
  return {
    get models() {
      return models;
    },
    pickers,
    async list(signal, options = { refresh: true }) {
      const client = core.servers.client();
      const listed = await core.models.list(client, options, signal);
      preferred = await core.chatModels.find(client, signal);
      models = listed.models.filter(canChat);
    },
    async settle(update) {
      for (const session of sessions.all()) {
        const { told } = session;
        const configOptions = pickers(session);
        if (session.told !== told)
          await update(session.id, { sessionUpdate: 'config_option_update', configOptions });
      }
    },
  };
}

/** The session's model stays while it is there; else the one that answers where nobody chose. */
function settleModel(session: Session, models: readonly Model[], preferred: ChatModelResult): void {
  if (models.some(({ name }) => name === session.model)) return;
  if (session.model === undefined) session.standsInFor = preferred.missing;
  session.model = preferred.model?.name;
}
