import { messageOf } from '../../protocol/base/text.ts';
import type { TextPosition } from '../../protocol/messages/messageTypes.ts';
import type { Model } from '../../protocol/messages/models.ts';
import { RunnerError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { modelKey } from '../models/name.ts';
import type { AskRunner, WarmRunner } from './completionRunner.ts';
import { type CursorContext, cursorContextAt, prefixBudget } from './cursorContext.ts';
import type { OpenDocument } from './openDocuments.ts';
import type { Delay } from './pacing.ts';
import { isTooLarge, type WhyNotSendable } from './sendable.ts';

export interface WarmingDependencies {
  readonly document: (uri: string) => OpenDocument | undefined;
  /** The model in the current settings. */
  readonly model: () => string | undefined;
  readonly whyNotSendable: WhyNotSendable;
  /** Whether nobody waits for the runner. Completions do not count. */
  readonly isIdle: () => boolean;
  /** Whether the model is in memory. */
  readonly isLoaded: (model: string, signal: AbortSignal) => Promise<boolean>;
  readonly warm: WarmRunner;
  readonly wait: Delay;
  readonly log: Log;
}

/** How long nothing must happen before a document is warmed, in ms, so that a glance at a document costs nothing. */
const quiet = 1_000;

export type Warming = ReturnType<typeof createWarming>;

/**
 * In a pause the runner evaluates the text of a document for which nobody has asked for a suggestion yet, so that the
 * first one comes sooner. It does this for one document at a time, once for each, and only while nobody else wants the
 * runner.
 */
export function createWarming(dependencies: WarmingDependencies) {
  const { isIdle, isLoaded, whyNotSendable, wait, log } = dependencies;
  /** The model that has evaluated an open document, by the document's address. */
  const readers = new Map<string, string>();
  let asking = 0;
  let here: { readonly uri: string; readonly controller: AbortController } | undefined;
  const stop = () => here?.controller.abort();

  const mayWarm = async (uri: string, model: string, signal: AbortSignal) =>
    (await whyNotSendable(uri)) === undefined && isIdle() && (await isLoaded(model, signal));

  const warmAfterPause = async ({ uri, model, position }: Arrival, signal: AbortSignal) => {
    try {
      await wait(quiet, signal);
      if (asking > 0 || !(await mayWarm(uri, model, signal))) return;
      const document = dependencies.document(uri);
      // Somebody may have asked in the meantime.
      if (signal.aborted || asking > 0 || !isIdle() || !document || isTooLarge(document.getText())) return;
      const around = position ? cursorContextAt(document, position) : cursorContextAnywhere(document);
      const isWarm = await dependencies.warm({ place: { uri, model, around }, isGuess: !position }, signal);
      if (isWarm) readers.set(uri, model);
    } catch (error) {
      if (signal.aborted) return;
      // The runner would refuse the same request again.
      if (error instanceof RunnerError && !error.data.retryable) readers.set(uri, model);
      log.debug(`Nothing was warmed: ${messageOf(error)}`);
    }
  };

  return {
    /** Somebody else wants the runner. */
    stop,
    /** The user is in this document, at this position if it is known. Ends running work and starts a pause. */
    arrive(uri: string, position?: TextPosition): void {
      stop();
      const model = dependencies.model();
      if (model === undefined || readers.get(uri) === model) return;
      here = { uri, controller: new AbortController() };
      void warmAfterPause({ uri, model, position }, here.controller.signal);
    },
    /** The document is closed. */
    leave(uri: string): void {
      readers.delete(uri);
      if (here?.uri === uri) stop();
    },
    /** Wraps `ask` to observe it. Its document need not be warmed any more, and nothing is warmed while it runs. */
    observe:
      (ask: AskRunner): AskRunner =>
      async (place, signal, receive) => {
        stop();
        asking += 1;
        if (dependencies.document(place.uri)) readers.set(place.uri, place.model);
        try {
          return await ask(place, signal, receive);
        } finally {
          asking -= 1;
        }
      },
  };
}

interface Arrival {
  readonly uri: string;
  readonly model: string;
  readonly position: TextPosition | undefined;
}

/**
 * The surroundings for a cursor that may be anywhere: as much of the beginning as a prompt holds, because the prompt
 * for any place within it begins with a part of it. The prompts of other files quote the beginning of the document.
 */
function cursorContextAnywhere(document: OpenDocument): CursorContext {
  const around = cursorContextAt(document, document.positionAt(prefixBudget));
  return { ...around, position: { line: 0, character: 0 } };
}

/** Whether a model is loaded with the window that a request would ask for. Another window would load it again. */
export function isLoadedAs(
  running: readonly Model[],
  { model, contextLength }: { readonly model: string; readonly contextLength?: number },
): boolean {
  const loaded = running.find(({ name }) => modelKey(name) === modelKey(model));
  if (!loaded || contextLength === undefined) return loaded !== undefined;
  const { maximum = contextLength, allocated } = loaded.context;
  return allocated === undefined || allocated === Math.min(contextLength, maximum);
}
