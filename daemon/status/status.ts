import type { Status } from '../../protocol/status.ts';
import { RunnerError } from '../errors.ts';
import { createEmitter, type Event } from '../event.ts';
import type { RunnerClient, Server } from '../runner/client.ts';

/** How the runner is: asked for at the start, on request and after a failed connection, never by polling. */
export interface StatusMonitor {
  readonly onDidChange: Event<Status>;
  /** A server beside the default one, of which nobody is told a status, answers after it could not be reached. */
  readonly onDidReturn: Event<Server>;
  /** Asks the server; where it is the default one, a change is told. */
  check(client: RunnerClient, signal: AbortSignal): Promise<Status>;
  /** A request to the default server is under way until the returned function is called. */
  work(): () => void;
  /** Whether such a request is under way. */
  readonly isWorking: boolean;
  /** A request failed; a lost connection to the default server is checked before it is told. */
  failed(error: RunnerError): void;
  /** What the user had better do about a feature, said while all else is well; undefined takes it back. */
  advise(message: string | undefined): void;
  /** A server answered a request: the default one is asked how it is, where it was offline; another one has come back. */
  answered(server: Server): void;
}

export interface StatusOptions {
  /** The default server's, as it is now. */
  readonly client: () => RunnerClient;
  readonly closed: AbortSignal;
}

export function createStatus({ client, closed }: StatusOptions): StatusMonitor {
  const changed = createEmitter<Status>();
  const returned = createEmitter<Server>();
  /** Names of the servers beside the default one that could not be reached. */
  const lost = new Set<string>();
  let told: string | undefined;
  let last: Status | undefined;
  let working = 0;
  let advice: string | undefined;

  const tell = () => {
    if (!last) return;
    const status = withAdvice(withWork(last, working > 0), advice);
    const text = JSON.stringify(status);
    if (text === told) return;
    told = text;
    changed.fire(status);
  };

  const check = async (asked: RunnerClient, signal: AbortSignal): Promise<Status> => {
    const isDefault = asked.server.name === client().server.name;
    if (isDefault && !last) {
      last = { state: 'checking', kind: 'ok', message: `Looking for a runner at ${asked.server.url}.` };
      tell();
    }
    const status = await statusOf(asked, signal);
    if (isDefault) {
      last = status;
      tell();
    } else if (status.state === 'offline') lost.add(asked.server.name);
    return status;
  };

  let isChecking = false;
  const checkLater = () => {
    if (isChecking) return;
    isChecking = true;
    // An aborted check tells nothing, and nobody waits for it.
    check(client(), closed)
      .catch(() => undefined)
      .finally(() => {
        isChecking = false;
      });
  };

  return {
    onDidChange: changed.event,
    onDidReturn: returned.event,
    check,
    get isWorking() {
      return working > 0;
    },
    work() {
      working++;
      tell();
      let open = true;
      return () => {
        if (!open) return;
        open = false;
        working--;
        tell();
      };
    },
    failed({ kind, details }) {
      if (kind !== 'server-unreachable') return;
      const { name } = client().server;
      const { server = name } = details;
      if (server === name) checkLater();
      else lost.add(server);
    },
    advise(message) {
      advice = message;
      tell();
    },
    answered(server) {
      if (last?.state === 'offline' && server.name === client().server.name) checkLater();
      if (lost.delete(server.name)) returned.fire(server);
    },
  };
}

function withWork(status: Status, isWorking: boolean): Status {
  return isWorking && status.state === 'online' ? { ...status, state: 'busy' } : status;
}

/** What is wrong with the runner itself is said first. */
function withAdvice(status: Status, advice: string | undefined): Status {
  return advice !== undefined && status.kind === 'ok' && status.state !== 'checking'
    ? { ...status, kind: 'warning', message: advice }
    : status;
}

async function statusOf(client: RunnerClient, signal: AbortSignal): Promise<Status> {
  const { url } = client.server;
  try {
    const version = await client.version(signal);
    return {
      state: 'online',
      kind: 'ok',
      message: `The runner at ${url} answers.`,
      ...(version ? { version } : {}),
    };
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    // A server of the same API need not tell its version.
    if (error.kind === 'not-supported')
      return { state: 'online', kind: 'warning', message: `${url} answers without a version.` };
    const reached = error.kind === 'unauthorized' || error.kind === 'busy';
    return {
      state: reached ? 'online' : 'offline',
      kind: reached ? 'warning' : 'error',
      message: error.message,
    };
  }
}
