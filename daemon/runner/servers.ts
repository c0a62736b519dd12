import type { RunnerTimeouts } from '../../protocol/initialize.ts';
import { InvalidParamsError } from '../errors.ts';
import { createEmitter, type Event } from '../event.ts';
import { createRunnerClient, type RunnerClient, type Server } from './client.ts';
import { createTransport } from './transport.ts';

export interface ServersOptions {
  /** The servers and time limits, as they are now. */
  readonly settings: () => { readonly servers: readonly Server[]; readonly timeouts: RunnerTimeouts };
  /** Authorization and further headers for an address, and for no other. */
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  /** Takes secrets out of what a runner says of itself. */
  readonly redact: (text: string) => string;
}

/** The clients of the configured servers, made when first asked for and replaced when their settings change. */
export interface Servers {
  /**
   * The client of the server with this name; none is the one at `host`.
   * @throws {InvalidParamsError} with the path `server`, when there is no such name.
   */
  client(name?: string): RunnerClient;
  /** A server answers, whatever it says. */
  readonly onDidAnswer: Event<Server>;
  close(): Promise<void>;
}

export function createServers({ settings, headersFor, redact }: ServersOptions): Servers {
  const answered = createEmitter<Server>();
  const clients = new Map<string, { key: string; client: RunnerClient }>();

  const open = (server: Server, timeouts: RunnerTimeouts): RunnerClient => {
    const { name, ...address } = server;
    return createRunnerClient(
      server,
      createTransport({
        server: name,
        ...address,
        timeouts,
        headers: headersFor,
        onAnswer: () => answered.fire(server),
        redact,
      }),
    );
  };

  return {
    onDidAnswer: answered.event,
    client(name) {
      const { servers, timeouts } = settings();
      const server = name === undefined ? servers[0] : servers.find((candidate) => candidate.name === name);
      if (!server) throw new InvalidParamsError('server', `no server has the name "${name}"`);
      const key = JSON.stringify([server, timeouts]);
      const known = clients.get(server.name);
      if (known?.key === key) return known.client;
      // Requests that are under way keep the old connection until they end.
      void known?.client.close();
      const client = open(server, timeouts);
      clients.set(server.name, { key, client });
      return client;
    },
    async close() {
      await Promise.all([...clients.values()].map(({ client }) => client.close()));
    },
  };
}
