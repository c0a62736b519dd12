import type { RunnerTimeouts } from '../../protocol/messages/settings.ts';
import { type AdvisedMessage, InvalidParamsError } from '../base/errors.ts';
import { createEmitter, type Event } from '../base/event.ts';
import { createRunnerClient, type RunnerClient, type Server } from './client.ts';
import { createTransport } from './transport.ts';

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

/** The clients of the configured servers. Each is created on first use, and replaced when its settings change. */
export interface Servers {
  /**
   * The client of the server with this name; without a name, of the server at `host`.
   * @throws {InvalidParamsError} with the path `server`, when no server has this name.
   */
  client(name?: string): RunnerClient;
  /**
   * A client of another address than the settings give the server with this name. The caller closes it.
   * @throws {InvalidParamsError} as `client` does.
   */
  clientAt(url: string, name?: string): RunnerClient;
  /** A server answered, with whatever status. */
  readonly onDidAnswer: Event<Server>;
  close(): Promise<void>;
}

export function createServers({ settings, headersFor, whyWithheld, redact }: ServersOptions): Servers {
  const answered = createEmitter<Server>();
  const clients = new Map<string, { key: string; client: RunnerClient }>();

  const open = (server: Server, onAnswer: () => void = () => undefined): RunnerClient => {
    const { name, ...address } = server;
    const { timeouts } = settings();
    return createRunnerClient(
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
    clientAt: (url, name) => open({ ...find(name), url }),
    client(name) {
      const { timeouts } = settings();
      const server = find(name);
      const key = JSON.stringify([server, timeouts]);
      const known = clients.get(server.name);
      if (known?.key === key) return known.client;
      // Running requests keep the old connection until they end.
      void known?.client.close();
      const client = open(server, () => answered.fire(server));
      clients.set(server.name, { key, client });
      return client;
    },
    async close() {
      await Promise.all([...clients.values()].map(({ client }) => client.close()));
    },
  };
}
