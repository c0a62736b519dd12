import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import {
  ApiFailure,
  type Call,
  type PracticePrompt,
  type SpeechPiece as Said,
  type Speaker,
} from '../../../daemon/practice/exchange.ts';

/** What a scripted model says and does, piece by piece. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  /** Whole calls, on a line of their own or in the line with `done`. */
  | { readonly kind: 'calls'; readonly calls: readonly ScriptedCall[]; readonly inLastLine?: boolean }
  /** Tokens that are counted but never sent, as when the runner cannot read a call. */
  | { readonly kind: 'lost'; readonly tokens: number }
  /** An error: with its own status if nothing was sent yet, otherwise as the last line of a stream with status 200. */
  | { readonly kind: 'failure'; readonly message: string; readonly status?: number }
  /** The stream ends without `done`. */
  | { readonly kind: 'cut' }
  /** The connection is lost. */
  | { readonly kind: 'crash' };

export type ScriptedCall = Omit<Call, 'id'> & Partial<Call>;

export type ScriptedSpeaker = (prompt: PracticePrompt) => Iterable<Piece> | AsyncIterable<Piece>;

/** What a script does to the lines of one answer that no model does. */
export interface Ending {
  isCut: boolean;
  /** They come in the line with `done`. */
  readonly lastCalls: Call[];
}

/** Speaks a script as a model of the practice runner. */
export function speakScript(
  speak: ScriptedSpeaker,
  { ending, drop }: { readonly ending: Ending; readonly drop: () => void },
): Speaker {
  return async function* (prompt) {
    let count = 0;
    for await (const piece of speak(prompt)) {
      // Without a pause nothing would notice that a client is gone.
      if (++count % 32 === 0) await turn();
      prompt.signal.throwIfAborted();
      if (piece.kind === 'failure') throw new ApiFailure(piece.status ?? 500, piece.message);
      if (piece.kind === 'cut') ending.isCut = true;
      if (piece.kind === 'crash') drop();
      if (piece.kind === 'cut' || piece.kind === 'crash') return;
      yield* saidBy(piece, ending);
    }
  };
}

type Spoken = Exclude<Piece, { readonly kind: 'failure' | 'cut' | 'crash' }>;

function* saidBy(piece: Spoken, { lastCalls }: Ending): Generator<Said> {
  if (piece.kind === 'lost')
    for (let index = 0; index < piece.tokens; index += 1) yield { kind: 'text', text: '' };
  else if (piece.kind !== 'calls') yield piece;
  else {
    const calls = piece.calls.map((call) => ({ id: `call_${randomBytes(4).toString('hex')}`, ...call }));
    if (piece.inLastLine) lastCalls.push(...calls);
    else yield { kind: 'calls', calls };
  }
}
