import { orAborted } from '../../protocol/base/abort.ts';
import type { RunnerTimeouts } from '../../protocol/messages/settings.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import { type Look, Transport, type TransportOptions } from './http/transport.ts';
import { hasOllamaList, lookForOllama, OllamaRunner } from './ollama/ollamaRunner.ts';
import { LlamaRunner } from './openai/llamaRunner.ts';
import { LmStudioLoader, LmStudioRunner } from './openai/lmStudio.ts';
import { OpenaiRunner } from './openai/openaiRunner.ts';
import {
  isLlamaServer,
  isLmStudio,
  otherServer,
  recogniseLlama,
  recogniseOpenai,
  type ServerMatch,
} from './openai/recognise.ts';
import { LlamaRouter } from './openai/router.ts';
import type { Runner, Server, ServerFacts } from './runner.ts';

/** How long a discovery waits for an answer, in ms. What runs on this machine answers at once, unless it loads. */
const discoverWithin = 2_000;

/** How many addresses of one server are looked at for one request. */
const maxLooks = 3;

interface ServersOptions extends Required<Pick<TransportOptions, 'headersFor' | 'whyWithheld' | 'redact'>> {
  /** The current servers and time limits. */
  readonly settings: () => { readonly servers: readonly Server[]; readonly timeouts: RunnerTimeouts };
  /** A server was looked for at its address. True if the settings have another address for it now. */
  readonly onDidLook?: (server: Server, isReached: boolean) => Promise<boolean>;
}

/** A server that has been used. */
interface OpenServer {
  readonly key: string;
  readonly transport: Transport;
  readonly closed: AbortController;
  runner: Runner;
  isRecognised: boolean;
  /** The look that is under way: whether anything answers. */
  asking?: Promise<boolean>;
}

/** The configured runners. Each is created on first use, and replaced when its settings change. */
export class Servers {
  readonly #answered = createEmitter<Server>();
  readonly #opened = new Map<string, OpenServer>();
  /** A server answered, with whatever status. */
  readonly onDidAnswer = this.#answered.event;

  constructor(private readonly options: ServersOptions) {}

  /** Those in the settings, the one at `host` first. */
  get all(): readonly Server[] {
    return this.options.settings().servers;
  }

  /**
   * The server with this name; without a name, the one at `host`.
   * @throws {InvalidParamsError} with the path `server`, when no server has this name.
   */
  server(name?: string): Server {
    const server = name === undefined ? this.all[0] : this.all.find((candidate) => candidate.name === name);
    if (!server) throw new InvalidParamsError('server', `no server has the name "${name}"`);
    return server;
  }

  /**
   * What answers at the server with this name. It is asked what it is on first use, and again after its connection was
   * lost. If nothing answers, it is what it was before, so that a request to it says what is wrong.
   * @throws {InvalidParamsError} as `server` does.
   */
  async runner(name?: string, signal?: AbortSignal): Promise<Runner> {
    for (let looks = 1; ; looks += 1) {
      const server = this.server(name);
      const open = this.#openOf(server);
      if (open.isRecognised) return open.runner;
      open.asking ??= recogniseOpen(open);
      const isReached = await (signal ? orAborted(open.asking, signal) : open.asking);
      const isElsewhere = await this.options.onDidLook?.(server, isReached);
      if (!isElsewhere || looks === maxLooks) return open.runner;
    }
  }

  /**
   * What answers at another address than the settings give the server with this name. The caller closes it.
   * @throws {InvalidParamsError} as `server` does.
   * @throws {RunnerError} if nothing answers there.
   */
  async runnerAt(url: string, name: string | undefined, signal: AbortSignal): Promise<Runner> {
    const { api: _, ...server } = { ...this.server(name), url };
    const transport = this.#connect(server);
    try {
      return (await recognise(transport, signal)).runner;
    } catch (error) {
      void transport.close();
      throw error;
    }
  }

  /** What certainly is a runner at one of these addresses, asked without any token. */
  async discover(urls: readonly string[], signal: AbortSignal): Promise<readonly Runner[]> {
    const { settings, redact } = this.options;
    const timeouts = { ...settings().timeouts, connect: discoverWithin, list: discoverWithin };
    const headersFor = async () => ({});
    const found = await Promise.all(
      urls.map(async (url) => {
        const transport = new Transport({ server: { name: url, url }, timeouts, headersFor, redact });
        const recognised = await recognise(transport, signal).catch(() => undefined);
        if (recognised?.isCertain) return [recognised.runner];
        await transport.close();
        return [];
      }),
    );
    signal.throwIfAborted();
    return found.flat();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(close));
  }

  #openOf(server: Server): OpenServer {
    const key = JSON.stringify([server, this.options.settings().timeouts]);
    const known = this.#opened.get(server.name);
    if (known?.key === key) return known;
    // Running requests keep the old connection until they end.
    if (known) void close(known);
    const transport = this.#connect(server, {
      onAnswer: () => this.#answered.fire(server),
      onLost: () => {
        open.isRecognised = false;
      },
    });
    const runner = new OllamaRunner(transport);
    const isRecognised = server.api === 'ollama';
    const open: OpenServer = { key, transport, closed: new AbortController(), runner, isRecognised };
    this.#opened.set(server.name, open);
    return open;
  }

  #connect(server: Server, watch: Pick<TransportOptions, 'onAnswer' | 'onLost'> = {}): Transport {
    const { timeouts } = this.options.settings();
    return new Transport({ ...this.options, ...watch, server, timeouts });
  }
}

/** Several requests share one look, which goes on if one of them is aborted. */
async function recogniseOpen(open: OpenServer): Promise<boolean> {
  try {
    const recognised = await recognise(open.transport, open.closed.signal);
    open.runner = recognised.runner;
    open.isRecognised = recognised.isComplete;
    return true;
  } catch (error) {
    // The request that follows fails in the same way, and says so.
    if (!(error instanceof RunnerError) && !open.closed.signal.aborted) throw error;
    return !(error instanceof RunnerError && error.kind === 'server-unreachable');
  } finally {
    delete open.asking;
  }
}

function close({ closed, transport }: OpenServer): Promise<void> {
  closed.abort();
  return transport.close();
}

/** What answers at an address. What proves nothing, for example because it keeps everything closed, is not certain. */
interface RecognisedServer extends Omit<ServerMatch, 'facts'> {
  readonly runner: Runner;
}

/**
 * Finds out which wire a server speaks, unless the settings say so, and what it can do. It is asked at most three short
 * questions. If none of its answers proves anything, it counts as Ollama, whose errors then say what is wrong.
 * @throws {RunnerError} if nothing answers.
 */
export async function recognise(transport: Transport, signal: AbortSignal): Promise<RecognisedServer> {
  const ollama = () => new OllamaRunner(transport);
  const recognisedAs = ({ facts, ...found }: ServerMatch): RecognisedServer => ({
    runner: openaiRunner(transport, facts),
    ...found,
  });
  const { api } = transport.server;
  if (api === 'ollama') return { runner: ollama(), isCertain: true, isComplete: true };
  let before: Look | undefined;
  if (api === undefined) {
    const { answer, isOllama } = await lookForOllama(transport, signal);
    if (isOllama) return { runner: ollama(), isCertain: true, isComplete: true };
    if (isLlamaServer(answer)) return recognisedAs(await recogniseLlama(transport, signal));
    before = answer;
    if ((answer.status === 401 || answer.status === 403) && !isLmStudio(answer))
      return { runner: ollama(), isCertain: false, isComplete: false };
  }
  const found = await recogniseOpenai(transport, signal, before);
  if (found) return recognisedAs(found);
  if (api === undefined && (await hasOllamaList(transport, signal)))
    return { runner: new OllamaRunner(transport, 'other'), isCertain: true, isComplete: true };
  const runner = api === 'openai' ? openaiRunner(transport, otherServer) : ollama();
  return { runner, isCertain: false, isComplete: false };
}

/** What a server of OpenAI's API can do beyond it is in a class of its product. */
export function openaiRunner(transport: Transport, facts: ServerFacts): OpenaiRunner {
  const canLoad = facts.can.includes('load');
  switch (facts.product) {
    case 'llama.cpp':
      return new (canLoad ? LlamaRouter : LlamaRunner)(transport, facts);
    case 'lmstudio':
      return new (canLoad ? LmStudioLoader : LmStudioRunner)(transport, facts);
    default:
      return new OpenaiRunner(transport, facts);
  }
}
