import { completeResourceRequest } from '../../../protocol/messages/files.ts';
import { canChat, listModelsRequest } from '../../../protocol/messages/models.ts';
import {
  completePromptRequest,
  type ListPromptsResult,
  listPromptsRequest,
  type Prompt,
} from '../../../protocol/messages/prompts.ts';
import { listSessionsRequest, type Session } from '../../../protocol/messages/sessions.ts';
import type { Product } from '../../../protocol/messages/status.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { TerminalConnection } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { productOf } from './chooseModel.ts';

/** What the daemon offers to a conversation: commands list it, and Tab completes it. */
export class ConversationOffers {
  readonly terminal: Terminal;
  /** Names of tool servers. */
  readonly knownTools: readonly string[];
  readonly #connection: TerminalConnection;
  readonly #commands: readonly string[];
  model: string;

  /** `commands` are the words behind a slash that lead to no prompt. */
  constructor(
    terminal: Terminal,
    connection: TerminalConnection,
    { model, commands, knownTools }: { model: string } & Record<'commands' | 'knownTools', readonly string[]>,
  ) {
    this.terminal = terminal;
    this.knownTools = knownTools;
    this.#connection = connection;
    this.#commands = commands;
    this.model = model;
  }

  /** It may have been replaced since the last request. */
  get daemon(): DaemonClient {
    return this.#connection.daemon;
  }

  get cwd(): string {
    return this.terminal.cwd;
  }

  /** The kept conversations, newest first. */
  async sessions(): Promise<readonly Session[]> {
    const { sessions } = await this.daemon.request(listSessionsRequest, { limit: 20 });
    return sessions;
  }

  /** Those that can chat. */
  async models() {
    const { models } = await this.daemon.request(listModelsRequest, { everywhere: true });
    return models.filter(canChat);
  }

  /**
   * The prompts that are kept as files; those that cannot be used too. Files that cannot be read now are no reason to
   * stop: what cannot be listed is not offered.
   */
  async prompts(): Promise<ListPromptsResult> {
    const { cwd } = this.terminal;
    const request = this.daemon.request(listPromptsRequest, { cwd, commands: this.#commands });
    return request.catch(() => ({ prompts: [], problems: [] }));
  }

  /** What the tool server of a prompt offers for the value of an argument. */
  async completeArgument({ name }: Pick<Prompt, 'name'>, argument: string, value: string) {
    const { cwd } = this.terminal;
    const params = { cwd, name, argument, value };
    const { values } = await this.daemon.request(completePromptRequest, params);
    return values;
  }

  /** The names of resources that begin so, without the `@`. */
  async completeResource(word: string): Promise<readonly string[]> {
    const { words } = await this.daemon.request(completeResourceRequest, { word });
    return words.map((offered) => offered.word);
  }

  product(): Promise<Product | undefined> {
    return productOf(this.daemon, this.model);
  }
}
