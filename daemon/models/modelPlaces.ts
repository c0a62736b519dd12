import { withTimeLimit } from '../../protocol/base/abort.ts';
import { messageOf } from '../../protocol/base/text.ts';
import type { ServerParams } from '../../protocol/messages/messageTypes.ts';
import type { ListModelsResult } from '../../protocol/messages/models.ts';
import { RunnerError } from '../base/errors.ts';
import type { Runner, Server } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';
import type { ListChoice, Models } from './models.ts';
import { modelKey } from './name.ts';

/** A model, by the name that its own server has for it. */
export interface PlacedModel {
  readonly runner: Runner;
  readonly model: string;
}

interface NamedModel extends ServerParams {
  readonly model: string;
}

/** How long a list of all servers waits for the further ones, in ms. */
const listWithin = 2_000;
/** A further server that did not answer is not asked for this long, in ms, so that nobody waits for it each time. */
const silentFor = 30_000;

/**
 * Which server has a model. Where a request names no server, `box/qwen3:8b` is a model of the server `box`; any other
 * name is one of the server at `host`.
 */
export class ModelPlaces {
  /** Until when further servers are left alone, by their addresses. */
  readonly #silent = new Map<string, number>();

  /** `now` in ms. */
  constructor(
    private readonly servers: Servers,
    private readonly models: Pick<Models, 'list'>,
    private readonly now: () => number,
  ) {}

  /** The name by which a client finds the model again without naming its server. */
  readonly nameOf = ({ name }: Pick<Server, 'name'>, model: string): string => {
    const { name: usual } = this.servers.server();
    return name === usual && this.read({ model }).model === model ? model : `${name}/${model}`;
  };

  /**
   * Where the name says that the model is, or is to be.
   * @throws {InvalidParamsError} if no server has the name of `server`.
   */
  read({ server, model }: NamedModel): { readonly server: Server; readonly model: string } {
    const { servers } = this;
    const [name, rest = ''] = model.split(/\/(.*)/s);
    const isNamed = server === undefined && servers.all.length > 1 && rest !== '';
    const named = isNamed ? servers.all.find((one) => one.name === name) : undefined;
    return named ? { server: named, model: rest } : { server: servers.server(server), model };
  }

  /** The same, with its runner. */
  async place(named: NamedModel, signal: AbortSignal): Promise<PlacedModel> {
    const { server, model } = this.read(named);
    return { runner: await this.servers.runner(server.name, signal), model };
  }

  /** The same; but a model that the server at `host` lacks, and another server has, is found there. */
  async find(named: NamedModel, signal: AbortSignal): Promise<PlacedModel> {
    const placed = await this.place(named, signal);
    const [usual, ...others] = this.all;
    if (named.server !== undefined || placed.model !== named.model || !usual || others.length === 0)
      return placed;
    // If the usual server does not answer, the user should see its own failure.
    if ((await this.#has(usual, named.model, signal)) !== false) return placed;
    const has = await Promise.all(others.map((server) => this.#has(server, named.model, signal)));
    const found = others[has.indexOf(true)];
    return found ? { ...placed, runner: await this.servers.runner(found.name, signal) } : placed;
  }

  /** The servers, each address once. */
  get all(): readonly Server[] {
    const { all } = this.servers;
    return all.filter(({ url }, index) => all.findIndex((server) => server.url === url) === index);
  }

  /**
   * The models of all servers, named for a request without a server. Those of a server that does not answer are left
   * out, and `problems` says so.
   * @throws {RunnerError} as the server at `host` does, if none answers.
   */
  async list(options: ListChoice, signal: AbortSignal): Promise<ListModelsResult> {
    const { all } = this;
    const asked = all.map((server) => this.#ask(server, options, signal));
    const answers = await Promise.allSettled(asked);
    signal.throwIfAborted();
    const [usual] = answers;
    if (usual?.status === 'rejected' && answers.every(({ status }) => status === 'rejected'))
      throw usual.reason;
    const lists = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const problems = answers.flatMap((answer, index) =>
      answer.status === 'rejected'
        ? [{ server: all[index]?.name ?? '', message: messageOf(answer.reason) }]
        : [],
    );
    const leftOut = lists.reduce((sum, list) => sum + (list.leftOut ?? 0), 0);
    const models = lists.flatMap((list) => list.models);
    return {
      models: models.map((model) => ({ ...model, name: this.nameOf({ name: model.server }, model.name) })),
      ...(lists.some(({ stale }) => stale) && { stale: true }),
      ...(leftOut > 0 && { leftOut }),
      ...(problems.length > 0 && { problems }),
    };
  }

  /** A further server has little time, and a list of it that is out of date is no answer. */
  async #ask(server: Server, options: ListChoice, signal: AbortSignal): Promise<ListModelsResult> {
    const { servers, models } = this;
    const { name, url } = server;
    const ask = async (limited: AbortSignal) =>
      models.list(await servers.runner(name, limited), options, limited);
    if (name === servers.server().name) return ask(signal);
    const reason = new RunnerError('server-unreachable', `The server "${name}" at ${url} does not answer.`);
    if (this.now() < (this.#silent.get(url) ?? 0)) throw reason;
    const list = await withTimeLimit({ limit: listWithin, reason, signal }, ask).catch((error: unknown) => {
      if (error instanceof RunnerError && error.kind === 'server-unreachable') return undefined;
      throw error;
    });
    if (list && !list.stale) return list;
    this.#silent.set(url, this.now() + silentFor);
    throw reason;
  }

  async #has(server: Server, model: string, signal: AbortSignal): Promise<boolean | undefined> {
    try {
      const { models } = await this.#ask(server, {}, signal);
      return models.some(({ name }) => modelKey(name) === modelKey(model));
    } catch (error) {
      if (signal.aborted || !(error instanceof RunnerError)) throw error;
      return undefined;
    }
  }
}
