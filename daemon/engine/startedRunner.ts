import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecretLine } from '../../protocol/messages/initialize.ts';
import { defaultServerName } from '../../protocol/messages/settings.ts';
import type { Lazy } from '../base/lazily.ts';
import type { Server } from '../runner/runner.ts';
import type { Engine } from './engine.ts';

export interface StartedRunnerOptions {
  readonly engine: Lazy<Engine>;
  /** The folder in which a file says what was started. Without that file nothing is loaded. */
  readonly state: string;
  /** Whether a setting or the environment names the usual server. Then nothing takes its place. */
  readonly isHostNamed: () => boolean;
  readonly setSecret: (line: SecretLine) => void;
}

/** The runner that Runner has started itself, in the place of the usual one where that does not answer. */
export class StartedRunner {
  #url: string | undefined;
  #key: string | undefined;
  #usualUrl: string | undefined;

  constructor(private readonly options: StartedRunnerOptions) {}

  /** These servers, with the first one at the address of what was started while that is used. */
  inPlace(servers: readonly Server[]): readonly Server[] {
    const [usual, ...others] = servers;
    const url = this.#url;
    this.#usualUrl = usual?.url;
    return url === undefined || usual === undefined || this.options.isHostNamed()
      ? servers
      : [{ ...usual, url }, ...others];
  }

  /**
   * The usual server was looked for at this address. If nothing answers there, the address may become another one: then
   * the result is true. What Runner has started is held from now on, whether it is there or at its own address.
   */
  async looked(server: Server, isReached: boolean): Promise<boolean> {
    const { engine, state, isHostNamed, setSecret } = this.options;
    if (server.name !== defaultServerName || isHostNamed()) return false;
    const isThere = await access(join(state, 'engine.json')).then(
      () => true,
      () => false,
    );
    const running = isThere ? await (await engine.get()).find() : undefined;
    if (isReached) return false;
    // What does not answer at its address is left, and looked for again the next time.
    this.#url = running?.url === server.url ? undefined : running?.url;
    if (running?.key !== undefined && running.key !== this.#key && this.#url !== undefined) {
      this.#key = running.key;
      setSecret({ origin: new URL(running.url).origin, secret: running.key });
    }
    // Several requests may be looking at the same time, and each has looked at one of the two.
    return (this.#url ?? this.#usualUrl) !== server.url;
  }

  /** The usual address counts again. */
  forget(): void {
    this.#url = undefined;
  }
}
