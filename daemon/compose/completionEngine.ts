import type { InlineCompletionParams } from '../../protocol/messages/completion.ts';
import { Completion } from '../completion/completion.ts';
import { CompletionRunner } from '../completion/completionRunner.ts';
import { Neighbours } from '../completion/neighbours.ts';
import { createOpenDocuments } from '../completion/openDocuments.ts';
import { createLatency, createPacing, type Delay } from '../completion/pacing.ts';
import { createSendable } from '../completion/sendable.ts';
import { createAcceptances } from '../completion/suggestions.ts';
import { createWarming, isLoadedAs } from '../completion/warming.ts';
import type { Core } from './core.ts';

interface EngineOptions {
  readonly core: Pick<
    Core,
    'configuration' | 'findPrivacy' | 'servers' | 'knowledge' | 'models' | 'status' | 'log'
  >;
  /** In ms. */
  readonly now: () => number;
  readonly wait: Delay;
  readonly closed: AbortSignal;
}

/** Inline completion in the documents of one editor. This puts its parts together. */
export function createCompletionEngine({ core, now, wait, closed }: EngineOptions) {
  const { configuration, findPrivacy, servers, knowledge, models, status, log } = core;
  const settings = () => configuration.current;
  const exclude = () => settings().exclude;
  const model = () => settings().completionModel;
  const isIdle = () => !status.isWorking;
  const whyNotSendable = createSendable(findPrivacy);
  const acceptances = createAcceptances();
  const latency = createLatency(now);
  const open = createOpenDocuments(now);
  const { documents, document, onDidClose } = open;
  const runner = (signal: AbortSignal) => servers.runner(undefined, signal);
  const common = { document, onDidClose, model, whyNotSendable, isIdle, wait };
  const { ask, warm } = new CompletionRunner({
    ...{ runner, settings, knowledge },
    learn: (...asked) => models.learn(...asked),
    neighbours: new Neighbours({ documents: open, whyNotSendable, exclude }),
  });
  const warming = createWarming({
    ...{ ...common, warm, log },
    isLoaded: async (name, signal) =>
      isLoadedAs(await models.running(await runner(signal), signal), { ...settings(), model: name }),
  });
  const completion = new Completion({
    ...{ ...common, acceptances, ask: latency.observe(warming.observe(ask)) },
    pacing: createPacing(open, latency, wait),
  });
  documents.onDidChangeContent(({ document: { uri } }) => warming.arrive(uri, open.lastEdit(uri)));
  onDidClose(warming.leave);
  const stop = () => {
    warming.stop();
    completion.stop();
  };
  closed.addEventListener('abort', stop, { once: true });
  return {
    /** The documents that the editor has open. The creator must make them listen to the editor. */
    documents,
    acceptances,
    /** Ends all running work, for example after a change of the settings. */
    stop,
    /** Somebody else wants the runner. Ends all work that nobody waits for. */
    giveWay(): void {
      warming.stop();
      completion.giveWay();
    },
    complete(params: InlineCompletionParams, signal: AbortSignal) {
      warming.arrive(params.textDocument.uri, params.position);
      return completion.complete(params, signal);
    },
  };
}
