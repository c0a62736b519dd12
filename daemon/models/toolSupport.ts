import { orAborted } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { ToolRefusal } from '../../protocol/messages/tools.ts';
import { RunnerError } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import type { Server } from '../runner/runner.ts';
import { type ModelCapabilities, modelId } from './modelCapabilities.ts';

type ToolState = 'untested' | 'enabled' | 'disabled';

/** What a request with tools showed. `unknown` means that it showed nothing. */
export type ToolVerdict = 'enabled' | 'disabled' | 'unknown';

interface RefusedModel {
  readonly server: Server;
  readonly model: string;
}

interface ToolTest extends RefusedModel {
  state: ToolState;
  /** The running test; settles when it is over. */
  test?: Promise<void>;
}

/**
 * What a failed request with tools shows, if the runner names tools or functions in words of its own and so may have
 * refused them: `unknown` where the words are about a single tool or call. Undefined if it was about something else.
 */
export function verdictOfRefusal(error: unknown): ToolVerdict | undefined {
  if (!(error instanceof RunnerError) || !/^(invalid-request|runner-failed)$/.test(error.kind))
    return undefined;
  if (!/\b(?:tools?|functions?)\b/i.test(error.message)) return undefined;
  const isOfOne = /schema|grammar|argument|parameters|pars(?:e|ing)\b|malformed|invalid|missing/i;
  return isOfOne.test(error.message) ? 'unknown' : 'disabled';
}

/**
 * Whether tools work, for each model and for the session, whatever the server says about the model. A model is untested
 * until a request with tools is answered. Once it refuses tools, it stays disabled.
 */
export class ToolSupport {
  readonly #models = new Map<string, ToolTest>();
  readonly #changed = createEmitter<readonly ToolRefusal[]>();
  /** All refusals, whenever one is added or removed. They are passed to the next daemon of the editor's session. */
  readonly onDidChange = this.#changed.event;

  constructor(private readonly knowledge: ModelCapabilities) {
    knowledge.onDidReplace((id) => {
      const isRefusal = this.#models.get(id)?.state === 'disabled';
      this.#models.delete(id);
      if (isRefusal) this.#publish();
    });
  }

  /**
   * Whether to send tools. The first request to an untested model is its test, and the others wait for the verdict. The
   * caller must call `report`, whatever happens.
   */
  async admit(
    server: Server,
    model: string,
    signal: AbortSignal,
  ): Promise<{ send: boolean; report: (verdict: ToolVerdict) => void }> {
    const tested = this.#testedOf(server, model);
    while (tested.state === 'untested' && tested.test) await orAborted(tested.test, signal);
    const settle = (verdict: ToolVerdict) => this.#settle(tested, verdict, { server, model });
    if (tested.state !== 'untested') return { send: tested.state === 'enabled', report: settle };
    let finish: (() => void) | undefined;
    tested.test = new Promise((resolve) => {
      finish = resolve;
    });
    const report = (verdict: ToolVerdict) => {
      settle(verdict);
      // Only the first report ends the test, because by now another request may be the test.
      if (!finish) return;
      delete tested.test;
      finish();
      finish = undefined;
    };
    return { send: true, report };
  }

  /** Restores what an earlier daemon of the session learnt. It is not published again. */
  restore(refusals: readonly ToolRefusal[]): void {
    for (const { url, model, digest } of refusals) {
      const server = { name: url, url };
      if (digest !== undefined) this.knowledge.learnDigest(server, model, digest);
      this.#testedOf(server, model).state = 'disabled';
      this.knowledge.observe(server, model, { capability: 'tools', value: false });
    }
  }

  #testedOf(server: Server, model: string): ToolTest {
    const id = modelId(server, model);
    const tested = this.#models.get(id) ?? { server, model, state: 'untested' };
    this.#models.set(id, tested);
    return tested;
  }

  #settle(tested: ToolTest, verdict: ToolVerdict, { server, model }: RefusedModel): void {
    if (verdict === 'unknown' || tested.state === verdict || tested.state === 'disabled') return;
    tested.state = verdict;
    this.knowledge.observe(server, model, { capability: 'tools', value: verdict === 'enabled' });
    if (verdict === 'disabled') this.#publish();
  }

  #publish(): void {
    const refused = [...this.#models.values()].filter(({ state }) => state === 'disabled');
    this.#changed.fire(
      refused.map(({ server, model }) =>
        withoutUndefined({ url: server.url, model, digest: this.knowledge.digest(server, model) }),
      ),
    );
  }
}
