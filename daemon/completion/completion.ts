import {
  completionAcceptedCommand,
  type InlineCompletionItem,
  type InlineCompletionParams,
  type SelectedCompletionInfo,
} from '../../protocol/messages/completion.ts';
import type { AskRunner } from './completionRunner.ts';
import { answerContextOf, cursorContextAt, cursorContextBehind, withInserted } from './cursorContext.ts';
import { replacedLength } from './filters.ts';
import { InFlightRequests, Newest } from './inFlight.ts';
import type { OpenDocuments } from './openDocuments.ts';
import type { Delay, Pacing } from './pacing.ts';
import { dropReason, isTooLarge, type WhyNotSendable } from './sendable.ts';
import {
  type Acceptances,
  type CompletionPoint,
  createSuggestions,
  type RecalledSuggestion,
  recallAt,
  type Suggestion,
} from './suggestions.ts';

export interface CompletionDependencies extends Pick<OpenDocuments, 'document' | 'onDidClose'> {
  /** The model in the current settings. */
  readonly model: () => string | undefined;
  readonly whyNotSendable: WhyNotSendable;
  readonly pacing: Pacing;
  readonly wait: Delay;
  readonly ask: AskRunner;
  /** Whether nobody else is waiting for the runner. */
  readonly isIdle: () => boolean;
  readonly acceptances: Pick<Acceptances, 'offer' | 'isEnd'>;
}

/** The outcome of a request. */
export type Outcome =
  /** `isAnswer`: it comes from the runner and was not known before. */
  | { readonly kind: 'item'; readonly item: InlineCompletionItem; readonly isAnswer: boolean }
  /** The runner answered, but nothing of its answer is worth showing. */
  | { readonly kind: 'nothing' }
  /** The runner was not asked; `reason` says why. */
  | { readonly kind: 'dropped'; readonly reason: string };

/**
 * Throws a `RunnerError` if the runner failed, `SupersededError` if a newer request or a changed setting ended it, and
 * the reason of the signal if that was aborted.
 */
export type Complete = (params: InlineCompletionParams, signal: AbortSignal) => Promise<Outcome>;

/**
 * One completion from the request to the item.
 *
 * A request names a cursor, and the text around it becomes a place (`cursorContext.ts`). The place must be worth a
 * request, and its document must be one that may be sent (`sendable.ts`). An earlier suggestion that fits the place is
 * shown at once (`suggestions.ts`). Otherwise the place waits for a running request that fits it (`inFlight.ts`), or
 * for a request of its own, once the user pauses (`pacing.ts`). `completionRunner.ts` adds text from other files
 * (`neighbours.ts`), tries the prompts that the model supports (`fillInTheMiddle.ts`), and reads until there is enough
 * (`answerReader.ts`). The filters keep what is worth suggesting (`filters.ts`), and that becomes the item here. While
 * the item is shown, the runner is already asked for what would follow its acceptance.
 */
export class Completion {
  readonly #dependencies: CompletionDependencies;
  readonly #suggestions = createSuggestions();
  readonly #newest = new Newest();
  readonly #inFlight: InFlightRequests;

  constructor(dependencies: CompletionDependencies) {
    const { ask, wait, onDidClose } = dependencies;
    this.#dependencies = dependencies;
    this.#inFlight = new InFlightRequests(async (place, signal, receive) => {
      const text = await ask(place, signal, receive);
      if (text === '') return undefined;
      const suggestion = { place, text };
      this.#suggestions.remember(suggestion);
      return suggestion;
    }, wait);
    onDidClose((uri) => {
      this.#inFlight.abort('The document was closed.', uri);
      this.#suggestions.forget(uri);
    });
  }

  complete(params: InlineCompletionParams, caller: AbortSignal): Promise<Outcome> {
    return this.#newest.run(params.textDocument.uri, caller, async (signal) => {
      const asked = placeOf(this.#dependencies, params);
      return 'reason' in asked ? asked : this.#answer(asked, signal);
    });
  }

  /** Somebody else wants the runner. Ends all work that nobody waits for. */
  giveWay(): void {
    this.#inFlight.giveWay();
  }

  /** Ends all running work, for example after a change of the settings. */
  stop(): void {
    this.#inFlight.abort('The settings have changed.');
  }

  async #answer(asked: CompletionRequest, signal: AbortSignal): Promise<Outcome> {
    const { place, isInvoked } = asked;
    const known = this.#suggestions.recall(place);
    // This comes before any wait, so that an answer that no longer fits closes its socket now.
    const underWay = this.#inFlight.arrive(place, known?.suggestion);
    // This comes before the checks, which wait for the disk: a request that nobody follows soon ends.
    const following = known ? undefined : underWay?.follow(signal);
    following?.catch(() => undefined);
    const unasked = dropReason(place.around, isInvoked) ?? (await this.#whyNotNow(asked));
    if (unasked !== undefined) return dropped(unasked);
    if (known) return this.#offer(asked, known, false);
    const suggestion = await following;
    if (underWay?.startsAt(place) || (suggestion && recallAt(place, suggestion)))
      return this.#settled(asked, suggestion);
    if (!underWay && !isInvoked) await this.#rest(asked, signal);
    const changed = await this.#whyNotNow(asked);
    if (changed !== undefined) return dropped(changed);
    signal.throwIfAborted();
    return this.#settled(asked, await this.#inFlight.begin(place).follow(signal));
  }

  /** The outcome for a request that waited, now that its answer has arrived. */
  #settled(asked: CompletionRequest, suggestion: Suggestion | undefined): Outcome {
    const stale = this.#whyStale(asked);
    if (stale !== undefined) return dropped(stale);
    const found = suggestion && recallAt(asked.place, suggestion);
    return found ? this.#offer(asked, found, true) : { kind: 'nothing' };
  }

  #offer(
    { place, base }: CompletionRequest,
    { text, suggestion }: RecalledSuggestion,
    isAnswer: boolean,
  ): Outcome {
    const { isIdle, acceptances } = this.#dependencies;
    const replaced = replacedLength(text, answerContextOf(place, []));
    const next = { ...place, around: withInserted(place.around, text, replaced), isAfterAcceptance: true };
    if (isIdle() && dropReason(next.around, false) === undefined && !this.#suggestions.recall(next))
      this.#inFlight.beginAhead(suggestion, next);
    const item = itemOf(text, { base, replaced }, acceptances.offer(next));
    return { kind: 'item', item, isAnswer };
  }

  /** The selection in a list may change at each keystroke, although the document does not. */
  #rest({ place: { uri, model }, base }: CompletionRequest, signal: AbortSignal): Promise<void> {
    return this.#dependencies.pacing.rest({ uri, model, isSinceKey: base.text === '' }, signal);
  }

  async #whyNotNow(asked: CompletionRequest): Promise<string | undefined> {
    return (await this.#dependencies.whyNotSendable(asked.place.uri)) ?? this.#whyStale(asked);
  }

  /** The reason why what was found before a wait is no longer valid. */
  #whyStale({ place: { uri, model }, version }: CompletionRequest): string | undefined {
    if (this.#dependencies.document(uri)?.version !== version) return 'the document has changed';
    return this.#dependencies.model() === model ? undefined : 'the settings have changed';
  }
}

interface CompletionRequest {
  readonly place: CompletionPoint;
  readonly version: number;
  /** The user asked explicitly, and does not want to wait. */
  readonly isInvoked: boolean;
  readonly base: Base;
}

/** The text before the suggestion, and the part of the document that it replaces. Both are empty if no list is open. */
type Base = SelectedCompletionInfo;

/** The place of a request, in the current state of the document. */
function placeOf(
  { model: modelOf, document: documentAt, acceptances }: CompletionDependencies,
  { textDocument: { uri }, position, context }: InlineCompletionParams,
): CompletionRequest | Extract<Outcome, { kind: 'dropped' }> {
  const model = modelOf();
  if (model === undefined) return dropped('no completion model is set');
  const document = documentAt(uri);
  if (!document) return dropped('the document is not open');
  if (isTooLarge(document.getText())) return dropped('the document is larger than 10 MB');
  const selected = context?.selectedCompletionInfo;
  const around = selected
    ? cursorContextBehind(selected, document, position)
    : cursorContextAt(document, position);
  if (!around) return dropped('the item that is selected in the list would be inserted elsewhere');
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

/** The item for a text that replaces `replaced` characters after its base. */
function itemOf(
  text: string,
  { base: { range, text: selected }, replaced }: { readonly base: Base; readonly replaced: number },
  id: string,
): InlineCompletionItem {
  const { start, end } = range;
  return {
    insertText: selected + text,
    range: { start, end: { line: end.line, character: end.character + replaced } },
    command: { title: 'Completion accepted', command: completionAcceptedCommand, arguments: [{ id }] },
  };
}
