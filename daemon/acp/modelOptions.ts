import type { SessionConfigOption, SetSessionConfigOptionRequest } from '@agentclientprotocol/sdk';
import { type ChatModelResult, canChat, type Model } from '../../protocol/messages/models.ts';
import type { Product } from '../../protocol/messages/status.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import type { Core } from '../compose/core.ts';
import type { Update } from './client.ts';
import { isThinkingChoice, modelPicker, modeOption, pickersOf, thinkingPicker } from './pickers.ts';
import type { AcpSession, AcpSessions } from './sessions.ts';

/** The models that can chat, as they were last listed, and the pickers with which each session chooses one. */
export class ModelOptions {
  readonly #core: Pick<Core, 'places' | 'chatModels' | 'servers'>;
  readonly #sessions: AcpSessions;
  models: readonly Model[] = [];
  #preferred: ChatModelResult = {};
  readonly #products = new Map<string, Product>();

  constructor(core: Pick<Core, 'places' | 'chatModels' | 'servers'>, sessions: AcpSessions) {
    this.#core = core;
    this.#sessions = sessions;
  }

  /** Asks the runner. With `refresh: false` a list of the last two seconds is enough. */
  async list(signal: AbortSignal, options: { readonly refresh: boolean } = { refresh: true }): Promise<void> {
    const { places, chatModels, servers } = this.#core;
    const listed = await places.list(options, signal);
    this.#preferred = await chatModels.findAnywhere(signal);
    this.models = listed.models.filter(canChat);
    for (const server of new Set(this.models.map((model) => model.server)))
      this.#products.set(server, (await servers.runner(server, signal)).facts.product);
  }

  /** The session's pickers, to be sent to its client. */
  pickers(session: AcpSession): SessionConfigOption[] {
    ensureModel(session, this.models, this.#preferred);
    const options = pickersOf(this.models, session, ({ server }) => this.#products.get(server));
    options.push(...modeOption(session));
    session.sentPickers = JSON.stringify(options);
    return options;
  }

  /** Gives each session a model that is installed, and sends its pickers if they have changed. */
  async updateSessions(update: Update): Promise<void> {
    for (const session of this.#sessions.all()) {
      const { sentPickers } = session;
      const configOptions = this.pickers(session);
      if (session.sentPickers !== sentPickers)
        await update(session.id, { sessionUpdate: 'config_option_update', configOptions });
    }
  }

  /**
   * Applies what the user chose in a picker of the session.
   * @throws {InvalidParamsError} if there is no such picker, or no such choice in it.
   */
  async choose(
    session: AcpSession,
    { configId, value }: SetSessionConfigOptionRequest,
    signal: AbortSignal,
  ): Promise<void> {
    if (configId === modelPicker) return this.#chooseModel(session, value, signal);
    if (configId !== thinkingPicker)
      throw new InvalidParamsError('configId', `there is no option "${configId}"`);
    if (!isThinkingChoice(value)) throw new InvalidParamsError('value', 'it is none of the choices');
    session.thinking = value;
  }

  async #chooseModel(session: AcpSession, value: unknown, signal: AbortSignal): Promise<void> {
    const find = () => this.models.find(({ name }) => name === value);
    // An unknown model may be new. If the runner does not answer, the last list counts.
    if (!find())
      await this.list(signal).catch((error) => {
        if (!(error instanceof RunnerError)) throw error;
      });
    const chosen = find();
    if (!chosen) throw new InvalidParamsError('value', `there is no model "${String(value)}" that can chat`);
    session.model = chosen.name;
    session.missingModel = undefined;
    await this.#core.chatModels.choose({ model: chosen.name });
  }
}

/** The session keeps its model while it is installed, and otherwise gets the one for chats without a choice. */
function ensureModel(session: AcpSession, models: readonly Model[], preferred: ChatModelResult): void {
  if (models.some(({ name }) => name === session.model)) return;
  if (session.model === undefined) session.missingModel = preferred.missing;
  session.model = preferred.model?.name;
}
