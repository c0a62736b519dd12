import { orAborted } from '../../protocol/base/abort.ts';
import type { RunnerTimeouts } from '../../protocol/messages/settings.ts';
import { type AdvisedMessage, InvalidParamsError, RunnerError } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import { createTransport, type Transport, type TransportOptions } from './http/transport.ts';
import { createOllamaRunner } from './ollama/ollamaRunner.ts';
import { recognise } from './recognise.ts';
import type { Runner, Server } from './runner.ts';

export interface ServersOptions {
  /** The current servers and time limits. */
  readonly settings: () => { readonly servers: readonly Server[]; readonly timeouts: RunnerTimeouts };
  /** Authorization and other headers for this address, and for no other. */
  readonly headersFor: TransportOptions['headers'];
  /** Why the token for this address is not sent; undefined if none is withheld. */
  readonly whyWithheld: (url: string) => AdvisedMessage | undefined;
  /** Removes secrets from what a runner says. */
  readonly redact: (text: string) => string;
  /** A server was looked for at its address. True if the settings have another address for it now. */
  readonly onDidLook?: (server: Server, isReached: boolean) => Promise<boolean>;
}

/** How long a discovery waits for an answer, in ms. What runs on this machine answers at once, unless it loads. */
const discoverWithin = 2_000;

/** How many addresses of one server are looked at for one request. */
const maxLooks = 3;

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
  readonly #options: ServersOptions;
  readonly #answered = createEmitter<Server>();
  readonly #opened = new Map<string, OpenServer>();
  /** A server answered, with whatever status. */
  readonly onDidAnswer = this.#answered.event;

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /** Those in the settings, the one at `host` first. */
  get all(): readonly Server[] {
    return this.#options.settings().servers;
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
      const isElsewhere = await this.#options.onDidLook?.(server, isReached);
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
      return (await recognise(server, transport, signal)).runner;
    } catch (error) {
      void transport.close();
      throw error;
    }
  }

  /** What certainly is a runner at one of these addresses, asked without any token. */
  async discover(urls: readonly string[], signal: AbortSignal): Promise<readonly Runner[]> {
    const { settings, redact } = this.#options;
    const timeouts = { ...settings().timeouts, connect: discoverWithin, list: discoverWithin };
    const headers = async () => ({});
    const found = await Promise.all(
      urls.map(async (url) => {
        const transport = createTransport({ server: url, url, timeouts, headers, redact });
        const recognised = await recognise({ name: url, url }, transport, signal).catch(() => undefined);
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
    const key = JSON.stringify([server, this.#options.settings().timeouts]);
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
    const runner = createOllamaRunner(server, transport);
    const isRecognised = server.api === 'ollama';
    const open: OpenServer = { key, transport, closed: new AbortController(), runner, isRecognised };
    this.#opened.set(server.name, open);
    return open;
  }

  #connect(server: Server, watch: Pick<TransportOptions, 'onAnswer' | 'onLost'> = {}): Transport {
    const { name, url, caFile } = server;
    const { settings, headersFor, whyWithheld, redact } = this.#options;
    return createTransport({
      server: name,
      url,
      ...(caFile === undefined ? {} : { caFile }),
      ...watch,
      timeouts: settings().timeouts,
      headers: headersFor,
      whyWithheld: () => whyWithheld(url),
      redact,
    });
  }
}

/** Several requests share one look, which goes on if one of them is aborted. */
async function recogniseOpen(open: OpenServer): Promise<boolean> {
  try {
    const { runner, transport, closed } = open;
    const recognised = await recognise(runner.server, transport, closed.signal);
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
