import type { SetSessionConfigOptionRequest } from '@agentclientprotocol/sdk';
import { type ChatModelResult, canChat, type Model } from '../../protocol/messages/models.ts';
import type { Product } from '../../protocol/messages/status.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import type { Core } from '../compose/core.ts';
import type { Update } from './client.ts';
import { isThinkingChoice, modelPicker, pickersOf, thinkingPicker } from './pickers.ts';
import { modeOption } from './sessionModes.ts';
import type { AcpSession, AcpSessions } from './sessions.ts';

export type ModelOptions = ReturnType<typeof createModelOptions>;

/** The models that can chat, as they were last listed, and the pickers with which each session chooses one. */
export function createModelOptions(
  core: Pick<Core, 'places' | 'chatModels' | 'servers'>,
  sessions: AcpSessions,
) {
  let models: readonly Model[] = [];
  let preferred: ChatModelResult = {};
  const products = new Map<string, Product>();

  const list = async (signal: AbortSignal, options: { readonly refresh: boolean } = { refresh: true }) => {
    const listed = await core.places.list(options, signal);
    preferred = await core.chatModels.findAnywhere(signal);
    models = listed.models.filter(canChat);
    for (const server of new Set(models.map((model) => model.server)))
      products.set(server, (await core.servers.runner(server, signal)).facts.product);
  };
  const pickers = (session: AcpSession) => {
    ensureModel(session, models, preferred);
    const options = pickersOf(models, session, ({ server }) => products.get(server));
    options.push(...modeOption(session));
    session.sentPickers = JSON.stringify(options);
    return options;
  };
  const find = (value: unknown) => models.find(({ name }) => name === value);
  const chooseModel = async (session: AcpSession, value: unknown, signal: AbortSignal) => {
    // An unknown model may be new. If the runner does not answer, the last list counts.
    if (!find(value))
      await list(signal).catch((error) => {
        if (!(error instanceof RunnerError)) throw error;
      });
    const chosen = find(value);
    if (!chosen) throw new InvalidParamsError('value', `there is no model "${String(value)}" that can chat`);
    session.model = chosen.name;
    session.missingModel = undefined;
    await core.chatModels.choose({ model: chosen.name });
  };

  return {
    get models(): readonly Model[] {
      return models;
    },
    /** Asks the runner. With `refresh: false` a list of the last two seconds is enough. */
    list,
    /** The session's pickers, to be sent to its client. */
    pickers,
    /** Gives each session a model that is installed, and sends its pickers if they have changed. */
    async updateSessions(update: Update): Promise<void> {
      for (const session of sessions.all()) {
        const { sentPickers } = session;
        const configOptions = pickers(session);
        if (session.sentPickers !== sentPickers)
          await update(session.id, { sessionUpdate: 'config_option_update', configOptions });
      }
    },
    /**
     * Applies what the user chose in a picker of the session.
     * @throws {InvalidParamsError} if there is no such picker, or no such choice in it.
     */
    async choose(
      session: AcpSession,
      { configId, value }: SetSessionConfigOptionRequest,
      signal: AbortSignal,
    ): Promise<void> {
      if (configId === modelPicker) return chooseModel(session, value, signal);
      if (configId !== thinkingPicker)
        throw new InvalidParamsError('configId', `there is no option "${configId}"`);
      if (!isThinkingChoice(value)) throw new InvalidParamsError('value', 'it is none of the choices');
      session.thinking = value;
    },
  };
}

/** The session keeps its model while it is installed, and otherwise gets the one for chats without a choice. */
function ensureModel(session: AcpSession, models: readonly Model[], preferred: ChatModelResult): void {
  if (models.some(({ name }) => name === session.model)) return;
  if (session.model === undefined) session.missingModel = preferred.missing;
  session.model = preferred.model?.name;
}
