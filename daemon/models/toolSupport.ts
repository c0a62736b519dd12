import { orAborted } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { ToolRefusal } from '../../protocol/messages/tools.ts';
import { RunnerError } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import type { Server } from '../runner/runner.ts';
import { type ModelCapabilities, modelId } from './modelCapabilities.ts';

type ToolState = 'untested' | 'enabled' | 'disabled';

/** What a request with tools showed. `unknown` means that it showed nothing. */
export type ToolVerdict = 'enabled' | 'disabled' | 'unknown';

/** A request with tools showed whether they work. */
interface ToolDecision extends RefusedModel {
  readonly works: boolean;
}

interface RefusedModel {
  readonly server: Server;
  readonly model: string;
}

interface Tested extends RefusedModel {
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

export type ToolSupport = ReturnType<typeof createToolSupport>;

/**
 * Whether tools work, for each model and for the session, whatever the server says about the model. A model is untested
 * until a request with tools is answered. Once it refuses tools, it stays disabled.
 */
export function createToolSupport() {
  const decided = createEmitter<ToolDecision>();
  const models = new Map<string, Tested>();

  const testedOf = (server: Server, model: string): Tested => {
    const id = modelId(server, model);
    const tested = models.get(id) ?? { server, model, state: 'untested' };
    models.set(id, tested);
    return tested;
  };
  const settle = (tested: Tested, verdict: ToolVerdict, { server, model }: RefusedModel) => {
    if (verdict === 'unknown' || tested.state === verdict || tested.state === 'disabled') return;
    tested.state = verdict;
    decided.fire({ server, model, works: verdict === 'enabled' });
  };

  return {
    onDidDecide: decided.event,
    /**
     * Whether to send tools. The first request to an untested model is its test, and the others wait for the verdict.
     * The caller must call `report`, whatever happens.
     */
    async admit(
      server: Server,
      model: string,
      signal: AbortSignal,
    ): Promise<{ send: boolean; report: (verdict: ToolVerdict) => void }> {
      const tested = testedOf(server, model);
      while (tested.state === 'untested' && tested.test) await orAborted(tested.test, signal);
      if (tested.state !== 'untested') {
        const report = (verdict: ToolVerdict) => settle(tested, verdict, { server, model });
        return { send: tested.state === 'enabled', report };
      }
      let finish: (() => void) | undefined;
      tested.test = new Promise((resolve) => {
        finish = resolve;
      });
      let isOver = false;
      const report = (verdict: ToolVerdict) => {
        settle(tested, verdict, { server, model });
        // Only the first report ends the test, because by now another request may be the test.
        if (isOver) return;
        isOver = true;
        delete tested.test;
        finish?.();
      };
      return { send: true, report };
    },
    /** Restores a refusal that an earlier daemon of the session learnt. It is not published again. */
    refuse(server: Server, model: string): void {
      testedOf(server, model).state = 'disabled';
    },
    /** The models that refused tools. */
    get refused(): readonly RefusedModel[] {
      return [...models.values()].filter(({ state }) => state === 'disabled');
    },
    /**
     * Discards the state of the model with this identifier, which is now another model. Returns whether it had refused.
     */
    forget(id: string): boolean {
      const isRefusal = models.get(id)?.state === 'disabled';
      models.delete(id);
      return isRefusal;
    },
  };
}

export type ToolRefusalStore = ReturnType<typeof createToolRefusals>;

/** The models that refuse tools. They are passed from one daemon of the editor's session to the next. */
export function createToolRefusals({
  toolSupport,
  knowledge,
}: {
  readonly toolSupport: ToolSupport;
  readonly knowledge: ModelCapabilities;
}) {
  const changed = createEmitter<readonly ToolRefusal[]>();
  const toRefusal = ({ server, model }: RefusedModel): ToolRefusal => {
    const digest = knowledge.digest(server, model);
    return withoutUndefined({ url: server.url, model, digest });
  };
  const publish = () => changed.fire(toolSupport.refused.map(toRefusal));

  toolSupport.onDidDecide(({ server, model, works }) => {
    knowledge.observe(server, model, { capability: 'tools', value: works });
    if (!works) publish();
  });
  knowledge.onDidReplace((id) => {
    if (toolSupport.forget(id)) publish();
  });

  return {
    /** All refusals, whenever one is added or removed. */
    onDidChange: changed.event,
    /** Restores what an earlier daemon of the session learnt. */
    restore(refusals: readonly ToolRefusal[]): void {
      for (const { url, model, digest } of refusals) {
        const server = { name: url, url };
        if (digest !== undefined) knowledge.learnDigest(server, model, digest);
        toolSupport.refuse(server, model);
        knowledge.observe(server, model, { capability: 'tools', value: false });
      }
    },
  };
}
