import { randomBytes } from 'node:crypto';
import type { Job, Step } from './job.ts';
import { startMeter } from './meter.ts';
import type { Call, Piece } from './speech.ts';
import { createStopFilter } from './stopFilter.ts';
import { countTokens } from './tokens.ts';

/** A piece that is part of the speech; the other pieces end it. */
type Said = Extract<Piece, { readonly kind: 'text' | 'thinking' | 'calls' | 'lost' }>;

interface LineMaker {
  /** The line for a piece, if it has one. `stopped` means that the piece contained a stop sequence. */
  add(piece: Said): { readonly step?: Step; readonly stopped?: boolean };
  /** Tokens so far. */
  tokens(): number;
  /** The text that was held back, and the line with `done`. */
  end(reason: 'stop' | 'length'): readonly Step[];
}

/** Turns what a model says into lines, and counts the tokens. */
export function createLineMaker(job: Pick<Job, 'promptTokens' | 'stop' | 'topLogprobs'>): LineMaker {
  const meter = startMeter(job.promptTokens);
  const stops = createStopFilter(job.stop);
  const last: object[] = [];
  let index = 0;
  const number = (calls: readonly Call[]) => calls.map((call) => callOnWire(call, index++));
  const textStep = (text: string): Step => ({ text, ...logprobsOf(text, job.topLogprobs) });
  return {
    add(piece) {
      meter.count(tokensOf(piece));
      switch (piece.kind) {
        case 'lost':
          return {};
        case 'thinking':
          return { step: { text: '', thinking: piece.text } };
        case 'calls':
          if (!piece.inLastLine) return { step: { text: '', calls: number(piece.calls) } };
          last.push(...number(piece.calls));
          return {};
        case 'text': {
          const { text, stopped } = stops.push(piece.text);
          return text !== '' || piece.text === '' ? { step: textStep(text), stopped } : { stopped };
        }
      }
    },
    tokens: meter.tokens,
    end(reason) {
      const rest = stops.rest();
      const calls = last.length > 0 ? { calls: last } : {};
      const final: Step = { text: '', ...calls, done: { reason, metrics: meter.read() } };
      return rest === '' ? [final] : [textStep(rest), final];
    },
  };
}

function tokensOf(piece: Said): number {
  if (piece.kind === 'lost') return piece.tokens;
  return piece.kind === 'calls' ? countTokens(JSON.stringify(piece.calls)) : 1;
}

function callOnWire({ id, name, arguments: args }: Call, index: number): object {
  return { id: id ?? `call_${randomId()}`, function: { index, name, arguments: args } };
}

function randomId(): string {
  return [...randomBytes(8)].map((byte) => (byte % 36).toString(36)).join('');
}

/** Every token is certain, as with weights that know only one text. */
function logprobsOf(text: string, top: number | undefined): Pick<Step, 'logprobs'> {
  if (top === undefined || text === '') return {};
  const token = { token: text, logprob: 0, bytes: [...Buffer.from(text)] };
  const unknown = { token: '<unk>', logprob: -178.6, bytes: [...Buffer.from('<unk>')] };
  return { logprobs: [{ ...token, ...(top > 0 ? { top_logprobs: [token, unknown].slice(0, top) } : {}) }] };
}
