import type { StreamRedaction } from '../../protocol/base/redaction.ts';
import type { ChatPart } from '../runner/runner.ts';
import type { DeltaPump } from './deltas.ts';
import { LongText } from './formatting.ts';

type Kind = 'text' | 'thinking';

/**
 * The text and the thinking of an answer. Secrets are removed here, so that the deltas, the message and every copy are
 * the same.
 */
export class AnswerText {
  readonly #pump: DeltaPump;
  readonly #redactions: Readonly<Record<Kind, StreamRedaction>>;
  readonly received = { text: new LongText(), thinking: new LongText() };

  constructor(pump: DeltaPump, createRedaction: () => StreamRedaction) {
    this.#pump = pump;
    this.#redactions = { text: createRedaction(), thinking: createRedaction() };
  }

  add(kind: Kind, added: string): void {
    const other = kind === 'text' ? 'thinking' : 'text';
    this.#send(other, this.#redactions[other].pause());
    this.#send(kind, this.#redactions[kind].add(added));
  }

  /** Something other than text comes next. */
  pause(): void {
    for (const kind of ['thinking', 'text'] as const) this.#send(kind, this.#redactions[kind].pause());
  }

  end(): void {
    for (const kind of ['thinking', 'text'] as const) this.#send(kind, this.#redactions[kind].end());
  }

  #send(kind: Kind, text: string): void {
    if (text === '') return;
    this.received[kind].add(text);
    this.#pump.push({ kind, text });
  }
}

/** The same parts, with neighbouring text in one part. A read of a fast runner holds hundreds of tokens. */
export function* joined(parts: readonly ChatPart[]): Generator<ChatPart> {
  let texts: string[] = [];
  let last: ChatPart | undefined;
  for (const part of parts) {
    if (last && !isText(part)) {
      yield { ...last, content: texts.join('') };
      texts = [];
      last = undefined;
    }
    if (isText(part)) texts.push((last = part).content);
    else yield part;
  }
  if (last) yield { ...last, content: texts.join('') };
}

function isText({ content, thinking, toolCalls, malformed, done }: ChatPart): boolean {
  return content !== '' && thinking === '' && toolCalls.length === 0 && !malformed && !done;
}

/** In characters: a text that repeats a piece of this length goes round in circles. */
const shortestPiece = 50;
const longestPiece = 2_000;
const times = 10;
/** Shorter pieces stand in rows in tables and lists of numbers, so that far more of them are needed; in characters. */
const ofShortPieces = 5_000;
/** How much is added between two looks, in characters. */
const step = 200;

/** Watches a text as it grows: whether it ends in the same piece, ten times in a row. */
export class LoopWatch {
  #tail = '';
  #added = 0;
  isLooping = false;

  add(text: string): void {
    this.#tail = (this.#tail + text).slice(-times * longestPiece);
    this.#added += text.length;
    if (this.#added < step) return;
    this.#added = 0;
    this.isLooping ||= repeats(this.#tail);
  }
}

function repeats(tail: string): boolean {
  const end = tail.slice(-shortestPiece);
  const before = tail.lastIndexOf(end, tail.length - shortestPiece - 1);
  if (before === -1 || end.trim() === '') return false;
  const period = tail.length - shortestPiece - before;
  if (period > longestPiece) return false;
  const needed = period < shortestPiece ? ofShortPieces : times * period;
  if (tail.length < needed) return false;
  for (let at = tail.length - needed + period; at < tail.length; at += 1)
    if (tail[at] !== tail[at - period]) return false;
  return true;
}
