import type { RunnerTimeouts } from '../../protocol/messages/settings.ts';
import { type AdvisedMessage, InvalidParamsError } from '../base/errors.ts';
import { createEmitter, type Event } from '../base/event.ts';
import { createTransport } from './http/transport.ts';
import { createOllamaRunner } from './ollama/ollamaRunner.ts';
import type { Runner, Server } from './runner.ts';

export interface ServersOptions {
  /** The current servers and time limits. */
  readonly settings: () => { readonly servers: readonly Server[]; readonly timeouts: RunnerTimeouts };
  /** Authorization and other headers for this address, and for no other. */
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  /** Why the token for this address is not sent; undefined if none is withheld. */
  readonly whyWithheld: (url: string) => AdvisedMessage | undefined;
  /** Removes secrets from what a runner says. */
  readonly redact: (text: string) => string;
}

/** The configured runners. Each is created on first use, and replaced when its settings change. */
export interface Servers {
  /**
   * The runner of the server with this name; without a name, of the server at `host`.
   * @throws {InvalidParamsError} with the path `server`, when no server has this name.
   */
  runner(name?: string): Runner;
  /**
   * A runner at another address than the settings give the server with this name. The caller closes it.
   * @throws {InvalidParamsError} as `runner` does.
   */
  runnerAt(url: string, name?: string): Runner;
  /** A server answered, with whatever status. */
  readonly onDidAnswer: Event<Server>;
  close(): Promise<void>;
}

export function createServers({ settings, headersFor, whyWithheld, redact }: ServersOptions): Servers {
  const answered = createEmitter<Server>();
  const clients = new Map<string, { key: string; runner: Runner }>();

  const open = (server: Server, onAnswer: () => void = () => undefined): Runner => {
    const { name, ...address } = server;
    const { timeouts } = settings();
    return createOllamaRunner(
      server,
      createTransport({
        server: name,
        ...address,
        timeouts,
        headers: headersFor,
        onAnswer,
        whyWithheld: () => whyWithheld(server.url),
        redact,
      }),
    );
  };

  const find = (name: string | undefined): Server => {
    const { servers } = settings();
    const server = name === undefined ? servers[0] : servers.find((candidate) => candidate.name === name);
    if (!server) throw new InvalidParamsError('server', `no server has the name "${name}"`);
    return server;
  };

  return {
    onDidAnswer: answered.event,
    runnerAt: (url, name) => open({ ...find(name), url }),
    runner(name) {
      const { timeouts } = settings();
      const server = find(name);
      const key = JSON.stringify([server, timeouts]);
      const known = clients.get(server.name);
      if (known?.key === key) return known.runner;
      // Running requests keep the old connection until they end.
      void known?.runner.close();
      const runner = open(server, () => answered.fire(server));
      clients.set(server.name, { key, runner });
      return runner;
    },
    async close() {
      await Promise.all([...clients.values()].map(({ runner }) => runner.close()));
    },
  };
}
