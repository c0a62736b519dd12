import type { ToolCall } from '../../protocol/messages/chat.ts';
import type { CallOutcome, DaemonTool } from './daemonTools.ts';

/** What a model reads in place of a result that it has already. */
const repeated = 'Same call as before, same result; it stands above.';
const warning = 'Do something else, or answer.';
/** So often the same call may have the same result. */
const maxSame = 3;
/** Two calls that take turns, so often. */
const maxPairs = 3;
/** Rounds in a row in which every call failed, and those in which every call was of a tool that nobody offers. */
const maxFailed = 6;
const maxUnknown = 3;

interface KnownCall {
  /** The call whose result is in the conversation. */
  readonly id: string;
  readonly content: string;
  readonly times: number;
}

interface RoundOutcome {
  readonly isError: boolean;
  readonly isUnknown: boolean;
}

/**
 * Whether the calls of a turn lead anywhere. A call that was made before does run, because files may have changed; only
 * its result is not repeated.
 */
export class CallRepeats {
  /** By the call as JSON. */
  readonly #known = new Map<string, KnownCall>();
  /** Calls with the result that they had before, in order; undefined for any other call. */
  readonly #sequence: (string | undefined)[] = [];
  readonly #isRemoved: (id: string) => boolean;
  #round: RoundOutcome[] = [];
  /** What was called in this round: the same call twice in one answer is one. */
  readonly #inRound = new Set<string>();
  #edits = 0;
  #failed = 0;
  #unknown = 0;
  #isStuck = false;

  /** `isRemoved` says whether the result of a call is no longer in the prompt. */
  constructor(isRemoved: (id: string) => boolean) {
    this.#isRemoved = isRemoved;
  }

  /** The outcome as the model gets it. */
  note(
    { id, name, arguments: given }: ToolCall,
    outcome: CallOutcome,
    tool: Pick<DaemonTool, 'annotations' | 'runsLast'> | undefined,
  ): CallOutcome {
    this.#round.push({ isError: outcome.isError, isUnknown: tool === undefined });
    const { runsLast = false, annotations } = tool ?? {};
    // What a check says is news once anything may have changed a file.
    if (tool && !outcome.isError && !runsLast && annotations?.readOnlyHint !== true) this.#edits += 1;
    const key = JSON.stringify([name, given, ...(runsLast ? [this.#edits] : [])]);
    if (this.#inRound.has(key)) return outcome;
    this.#inRound.add(key);
    const { compared: content = outcome.content } = outcome;
    const before = this.#known.get(key);
    const isSame = before?.content === content && !outcome.images?.length;
    if (!isSame || this.#isRemoved(before.id)) {
      this.#known.set(key, { id, content, times: 1 });
      this.#sequence.push(isSame || before === undefined ? key : undefined);
      return outcome;
    }
    const times = before.times + 1;
    this.#known.set(key, { ...before, times });
    this.#sequence.push(key);
    this.#isStuck ||= times > maxSame || this.#takesTurns();
    return { ...outcome, content: inPlaceOf(outcome.content, times) };
  }

  /** Called after each round: true if the model is caught in a loop. */
  endRound(): boolean {
    const all = (is: (outcome: RoundOutcome) => boolean) => this.#round.length > 0 && this.#round.every(is);
    this.#failed = all(({ isError }) => isError) ? this.#failed + 1 : 0;
    this.#unknown = all(({ isUnknown }) => isUnknown) ? this.#unknown + 1 : 0;
    this.#round = [];
    this.#inRound.clear();
    return this.#isStuck || this.#failed >= maxFailed || this.#unknown >= maxUnknown;
  }

  #takesTurns(): boolean {
    const [one, other, ...rest] = this.#sequence.slice(-2 * maxPairs);
    if (one === undefined || other === undefined || one === other || rest.length < 2 * maxPairs - 2)
      return false;
    return rest.every((key, at) => key === (at % 2 === 0 ? one : other));
  }
}

/** A short result is repeated: it says more than that it is the same. */
function inPlaceOf(content: string, times: number): string {
  const same = content.length > repeated.length ? repeated : content;
  if (times <= 2) return same;
  return content.length > repeated.length ? warning : `${content}\n${warning}`;
}
