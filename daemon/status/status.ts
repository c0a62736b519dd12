import { type Product, productNames, type Status } from '../../protocol/messages/status.ts';
import { type AdvisedMessage, RunnerError, sayAfter } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import type { Runner, Server } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';

/** The runner's status. It is checked at the start, on request and after a failed connection, never by polling. */
export class StatusMonitor {
  readonly #changed = createEmitter<Status>();
  readonly #returned = createEmitter<Server>();
  /** Names of the other servers that could not be reached. */
  readonly #lost = new Set<string>();
  #published: string | undefined;
  #last: Status | undefined;
  #working = 0;
  #warning: string | undefined;
  #isChecking = false;
  readonly onDidChange = this.#changed.event;
  /** A server other than the default one answers again after it could not be reached. Its status is not published. */
  readonly onDidReturn = this.#returned.event;

  /** `whyWithheld` says why the runner at an address does not get its token; undefined if none is withheld. */
  constructor(
    private readonly servers: Pick<Servers, 'server' | 'runner'>,
    private readonly whyWithheld: (url: string) => AdvisedMessage | undefined,
    private readonly closed: AbortSignal,
  ) {}

  /** Asks the server. If it is the default one, a change of its status is published. */
  async check({ name, url }: Server, signal: AbortSignal): Promise<Status> {
    const isDefault = name === this.servers.server().name;
    if (isDefault && !this.#last)
      this.#publish({ state: 'checking', kind: 'ok', message: `Looking for a runner at ${url}.` });
    const runner = await this.servers.runner(name, signal);
    const status = withReason(await statusOf(runner, signal), this.whyWithheld(url));
    if (isDefault) this.#publish(status);
    else if (status.state === 'offline') this.#lost.add(name);
    return status;
  }

  /** Whether a request to the default server is running. */
  get isWorking(): boolean {
    return this.#working > 0;
  }

  /** Marks a request to the default server as running until the returned function is called. */
  beginWork(): () => void {
    this.#working++;
    this.#publish();
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      this.#working--;
      this.#publish();
    };
  }

  /** A request failed. A lost connection to the default server is checked before it is published. */
  failed({ kind, details }: RunnerError): void {
    if (kind !== 'server-unreachable') return;
    const { name } = this.servers.server();
    const { server = name } = details;
    if (server === name) this.#checkLater();
    else this.#lost.add(server);
  }

  /** Sets what the user should know of a feature. It is shown while everything else is well; undefined removes it. */
  warn(message: string | undefined): void {
    this.#warning = message;
    this.#publish();
  }

  /**
   * A server answered a request. If it is the default one and was offline, its status is checked. If another one could
   * not be reached before, it has returned.
   */
  answered(server: Server): void {
    if (this.#last?.state === 'offline' && server.name === this.servers.server().name) this.#checkLater();
    if (this.#lost.delete(server.name)) this.#returned.fire(server);
  }

  #publish(status = this.#last): void {
    this.#last = status;
    if (!status) return;
    const shown = withWarning(withWork(status, this.isWorking), this.#warning);
    const text = JSON.stringify(shown);
    if (text === this.#published) return;
    this.#published = text;
    this.#changed.fire(shown);
  }

  #checkLater(): void {
    if (this.#isChecking) return;
    this.#isChecking = true;
    // An aborted check has no result, and nobody waits for it.
    this.check(this.servers.server(), this.closed)
      .catch(() => undefined)
      .finally(() => {
        this.#isChecking = false;
      });
  }
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
