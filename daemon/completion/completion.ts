import type { InlineCompletionItem, InlineCompletionParams } from '../../protocol/completion.ts';
import type { Acceptances } from './acceptances.ts';
import { afterAcceptance } from './accepted.ts';
import { answerContextOf } from './answerContext.ts';
import type { AskRunner } from './asking.ts';
import { restFor } from './debounce.ts';
import { dropReason, isTooLarge } from './dropReason.ts';
import { replacedLength } from './filters/repeatedClosers.ts';
import type { Fly } from './flight.ts';
import { createFlights } from './flights.ts';
import { type Base, itemOf } from './item.ts';
import { createLatency } from './latency.ts';
import { pause, type Wait } from './pause.ts';
import { createPrefetch } from './prefetch.ts';
import { surroundingsBehind } from './selected.ts';
import type { WhyNotSendable } from './sendable.ts';
import { createSuggestions, type Place, type Recalled } from './suggestions.ts';
import { surroundingsAt, type TextSource } from './surroundings.ts';

export interface CompletionDependencies {
  /** An open document, as it is now. */
  readonly document: (uri: string) => OpenDocument | undefined;
  /** Told of each document that is closed, also to be opened under another name. */
  readonly onDidClose: (close: (uri: string) => void) => void;
  /** Milliseconds since the document last changed. */
  readonly restedFor: (uri: string) => number;
  /** Milliseconds between the newest keys in the document. */
  readonly gaps: (uri: string) => readonly number[];
  /** The model of the settings, as they are now. */
  readonly model: () => string | undefined;
  readonly whyNotSendable: WhyNotSendable;
  readonly ask: AskRunner;
  /** Whether nobody else waits for the runner. */
  readonly isIdle: () => boolean;
  readonly acceptances: Pick<Acceptances, 'offer' | 'isEnd'>;
  /** In ms. */
  readonly now: () => number;
  readonly wait: Wait;
}

export interface OpenDocument extends TextSource {
  readonly version: number;
  getText(range?: Parameters<TextSource['getText']>[0]): string;
}

/** What came of a request. */
export type Outcome =
  /** `isAnswer`: it was not known before. */
  | { readonly kind: 'item'; readonly item: InlineCompletionItem; readonly isAnswer: boolean }
  /** The runner answered, and nothing of it is worth showing. */
  | { readonly kind: 'nothing' }
  /** The runner was not asked, and why. */
  | { readonly kind: 'dropped'; readonly reason: string };

/** Throws a `RunnerError` where the runner let it fail, and the reason of the signal where that was aborted. */
export type Complete = (params: InlineCompletionParams, signal: AbortSignal) => Promise<Outcome>;

export interface Completion {
  readonly complete: Complete;
  /** Somebody wants the runner: what nobody waits for ends. */
  giveWay(): void;
  /** What is under way holds no longer, such as after a change of the settings. */
  stop(): void;
}

/**
 * One completion from the request to the item: what is known of the place already, else the answer that is under way
 * for it, else a new one after a pause. While it is shown, what would follow its acceptance is asked for.
 */
export function createCompletion(dependencies: CompletionDependencies): Completion {
  const { isIdle, acceptances } = dependencies;
  const latency = createLatency(dependencies.now);
  const ask = latency.observe(dependencies.ask);
  const suggestions = createSuggestions();
  const flights = createFlights();
  const prefetch = createPrefetch();
  dependencies.onDidClose((uri) => {
    flights.abort(uri);
    prefetch.abort(uri);
    suggestions.forget(uri);
  });

  const flyTo =
    (place: Place): Fly =>
    async (signal, receive) => {
      const text = await ask(place, signal, receive);
      if (text !== '') suggestions.remember({ place, text });
    };

  const offer = ({ place, base }: Asked, { text, suggestion }: Recalled, isAnswer: boolean): Outcome => {
    const { around } = place;
    const replaced = replacedLength(text, answerContextOf(place, []));
    const next = { ...place, around: afterAcceptance(around, text, replaced), isAfterAcceptance: true };
    if (isIdle() && dropReason(next.around, false) === undefined && !suggestions.recall(next))
      prefetch.begin(suggestion, next, flyTo(next));
    return {
      ...{ kind: 'item', isAnswer },
      item: itemOf(text, { base, replaced }, acceptances.offer(next)),
    };
  };

  /** Who asks by hand does not wait. What is selected in a list may change at each key without the document. */
  const rest = async ({ place: { uri, model }, isInvoked, base }: Asked, signal: AbortSignal) => {
    signal.throwIfAborted();
    if (isInvoked) return;
    const wanted = restFor({ gaps: dependencies.gaps(uri), latency: latency.of(model) });
    const over = base.text === '' ? dependencies.restedFor(uri) : 0;
    await pause({ wanted, over }, dependencies.wait, signal);
  };

  /** Why what was found before a wait holds no longer. */
  const whyStale = ({ place: { uri, model }, version }: Asked): string | undefined => {
    if (dependencies.document(uri)?.version !== version) return 'the document is another one by now';
    return dependencies.model() === model ? undefined : 'the settings are others by now';
  };
  const whyNot = async (asked: Asked) =>
    (await dependencies.whyNotSendable(asked.place.uri)) ?? whyStale(asked);

  const complete: Complete = async (params, signal) => {
    const asked = placeOf(dependencies, params);
    if ('reason' in asked) return asked;
    const { place, isInvoked } = asked;
    const known = suggestions.recall(place);
    // Before anything is waited for: what no longer fits closes its socket now.
    const [ahead, underWay] = [prefetch.arrive(place, known?.suggestion), flights.fitting(place)];
    const unasked = dropReason(place.around, isInvoked) ?? (await whyNot(asked));
    if (unasked !== undefined) return dropped(unasked);
    if (known) return offer(asked, known, false);
    const flight = ahead ?? underWay;
    await flight?.follow(signal);
    const isAnswered = flight !== undefined && (flight.startsAt(place) || suggestions.recall(place));
    if (!isAnswered) {
      if (!flight) await rest(asked, signal);
      const changed = await whyNot(asked);
      if (changed !== undefined) return dropped(changed);
      await flights.begin(place, flyTo(place)).follow(signal);
    }
    const stale = whyStale(asked);
    if (stale !== undefined) return dropped(stale);
    const found = suggestions.recall(place);
    return found ? offer(asked, found, true) : { kind: 'nothing' };
  };

  return {
    complete,
    giveWay: () => prefetch.abort(),
    stop() {
      flights.abortAll();
      prefetch.abort();
    },
  };
}

interface Asked {
  readonly place: Place;
  readonly version: number;
  readonly isInvoked: boolean;
  readonly base: Base;
}

/** Where it is asked for, as the document is now: it changes in its place while others wait. */
function placeOf(
  { model: modelOf, document: documentAt, acceptances }: CompletionDependencies,
  { textDocument: { uri }, position, context }: InlineCompletionParams,
): Asked | Extract<Outcome, { kind: 'dropped' }> {
  const model = modelOf();
  if (model === undefined) return dropped('no completion model is set');
  const document = documentAt(uri);
  if (!document) return dropped('the document is not open');
  if (isTooLarge(document.getText())) return dropped('the document is above 10 MB');
  const selected = context?.selectedCompletionInfo;
  const around = selected
    ? surroundingsBehind(selected, document, position)
    : surroundingsAt(document, position);
  if (!around) return dropped('what is selected in the list is elsewhere');
  const here = { uri, model, around };
  const place = { ...here, isAfterAcceptance: acceptances.isEnd(here) };
  const base = selected ?? { range: { start: around.position, end: around.position }, text: '' };
  return { place, base, version: document.version, isInvoked: context?.triggerKind === invoked };
}

/** LSP's `InlineCompletionTriggerKind.Invoked`. */
const invoked = 1;

function dropped(reason: string): Extract<Outcome, { kind: 'dropped' }> {
  return { kind: 'dropped', reason };
}
