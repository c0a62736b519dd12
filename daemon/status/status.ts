import { type Product, productNames, type Status } from '../../protocol/messages/status.ts';
import { type AdvisedMessage, RunnerError, sayAfter } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import type { Runner, Server } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';

export interface StatusOptions {
  readonly servers: Pick<Servers, 'server' | 'runner'>;
  /** Why the runner at this address does not get its token; undefined if none is withheld. */
  readonly whyWithheld: (url: string) => AdvisedMessage | undefined;
  readonly closed: AbortSignal;
}

export type StatusMonitor = ReturnType<typeof createStatus>;

/** The runner's status. It is checked at the start, on request and after a failed connection, never by polling. */
export function createStatus({ servers, whyWithheld, closed }: StatusOptions) {
  const changed = createEmitter<Status>();
  const returned = createEmitter<Server>();
  /** Names of the other servers that could not be reached. */
  const lost = new Set<string>();
  let published: string | undefined;
  let last: Status | undefined;
  let working = 0;
  let warning: string | undefined;

  const publish = () => {
    if (!last) return;
    const status = withWarning(withWork(last, working > 0), warning);
    const text = JSON.stringify(status);
    if (text === published) return;
    published = text;
    changed.fire(status);
  };

  const check = async ({ name, url }: Server, signal: AbortSignal): Promise<Status> => {
    const isDefault = name === servers.server().name;
    if (isDefault && !last) {
      last = { state: 'checking', kind: 'ok', message: `Looking for a runner at ${url}.` };
      publish();
    }
    const runner = await servers.runner(name, signal);
    const status = withReason(await statusOf(runner, signal), whyWithheld(url));
    if (isDefault) {
      last = status;
      publish();
    } else if (status.state === 'offline') lost.add(name);
    return status;
  };

  let isChecking = false;
  const checkLater = () => {
    if (isChecking) return;
    isChecking = true;
    // An aborted check has no result, and nobody waits for it.
    check(servers.server(), closed)
      .catch(() => undefined)
      .finally(() => {
        isChecking = false;
      });
  };

  return {
    onDidChange: changed.event,
    /** A server other than the default one answers again after it could not be reached. Its status is not published. */
    onDidReturn: returned.event,
    /** Asks the server. If it is the default one, a change of its status is published. */
    check,
    /** Whether such a request is running. */
    get isWorking(): boolean {
      return working > 0;
    },
    /** Marks a request to the default server as running until the returned function is called. */
    beginWork(): () => void {
      working++;
      publish();
      let open = true;
      return () => {
        if (!open) return;
        open = false;
        working--;
        publish();
      };
    },
    /** A request failed. A lost connection to the default server is checked before it is published. */
    failed({ kind, details }: RunnerError): void {
      if (kind !== 'server-unreachable') return;
      const { name } = servers.server();
      const { server = name } = details;
      if (server === name) checkLater();
      else lost.add(server);
    },
    /** Sets what the user should know of a feature. It is shown while everything else is well; undefined removes it. */
    warn(message: string | undefined): void {
      warning = message;
      publish();
    },
    /**
     * A server answered a request. If it is the default one and was offline, its status is checked. If another one
     * could not be reached before, it has returned.
     */
    answered(server: Server): void {
      if (last?.state === 'offline' && server.name === servers.server().name) checkLater();
      if (lost.delete(server.name)) returned.fire(server);
    },
  };
}

function withWork(status: Status, isWorking: boolean): Status {
  return isWorking && status.state === 'online' ? { ...status, state: 'busy' } : status;
}

/** A runner that does not get its token may refuse all the rest. If it has refused this, its error has the reason. */
function withReason(status: Status, reason: AdvisedMessage | undefined): Status {
  return reason !== undefined && status.state === 'online' && status.advice?.code !== reason.advice.code
    ? { ...status, kind: 'warning', ...sayAfter(status.message, reason) }
    : status;
}

/** A problem of the runner itself takes precedence. */
function withWarning(status: Status, warning: string | undefined): Status {
  return warning !== undefined && status.kind === 'ok' && status.state !== 'checking'
    ? { ...status, kind: 'warning', message: warning }
    : status;
}

/** Ollama is what users expect; any other product is named. */
function answersAt(url: string, product: Product): string {
  const isNamed = product !== 'ollama' && product !== 'other';
  return isNamed ? `${productNames[product]} answers at ${url}.` : `The runner at ${url} answers.`;
}

async function statusOf(runner: Runner, signal: AbortSignal): Promise<Status> {
  const { url } = runner.server;
  const { product, can } = runner.facts;
  try {
    const { version } = await runner.identify(signal);
    return {
      state: 'online',
      kind: 'ok',
      message: answersAt(url, product),
      ...(version ? { version } : {}),
      product,
      can,
    };
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    // A server with the same API need not have a version.
    if (error.kind === 'not-supported')
      return { state: 'online', kind: 'warning', message: `${url} answers without a version.`, product, can };
    const isReached = error.kind === 'unauthorized' || error.kind === 'busy';
    return isReached
      ? { ...offlineStatus(error), state: 'online', kind: 'warning', product, can }
      : offlineStatus(error);
  }
}

/** Of a server that cannot be reached. */
export function offlineStatus({ message, details: { advice } }: RunnerError): Status {
  return { state: 'offline', kind: 'error', message, ...(advice === undefined ? {} : { advice }) };
}
