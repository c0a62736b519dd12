import { randomBytes } from 'node:crypto';
import type { InstalledModel } from './modelStore.ts';
import { type Call, countTokens, type Piece, type Prompt } from './speech.ts';

/** One line of an answer, before it gets the form of chat or generate. */
export interface Step {
  readonly text: string;
  readonly thinking?: string;
  readonly calls?: readonly object[];
  readonly logprobs?: readonly object[];
  readonly done?: { readonly reason: 'stop' | 'length'; readonly metrics: Metrics };
}

/** What a request asks of a model, with all defaults applied. */
export interface Job {
  readonly prompt: Prompt;
  readonly model: InstalledModel;
  readonly promptTokens: number;
  readonly window: number;
  readonly shift: boolean;
  readonly limit: number;
  readonly stop: readonly string[];
  readonly topLogprobs?: number;
}

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

/** Holds back text as long as its end may be the start of a stop sequence. */
function createStopFilter(stop: readonly string[]) {
  let held = '';
  return {
    /**
     * The part of the text so far that may be shown. `stopped` means that a stop sequence came, which is never shown.
     */
    push(text: string): { readonly text: string; readonly stopped: boolean } {
      held += text;
      const cuts = stop.map((sequence) => held.indexOf(sequence)).filter((index) => index !== -1);
      if (cuts.length > 0) {
        const shown = held.slice(0, Math.min(...cuts));
        held = '';
        return { text: shown, stopped: true };
      }
      if (stop.some((sequence) => endsWithStartOf(held, sequence))) return { text: '', stopped: false };
      const shown = held;
      held = '';
      return { text: shown, stopped: false };
    },
    /** The text that was held back because it might begin a stop sequence. */
    rest: () => held,
  };
}

function endsWithStartOf(text: string, sequence: string): boolean {
  for (let length = Math.min(text.length, sequence.length - 1); length > 0; length -= 1)
    if (text.endsWith(sequence.slice(0, length))) return true;
  return false;
}

/** Durations in nanoseconds. A zero is left out of the answer. */
interface Metrics {
  readonly total_duration: number;
  readonly load_duration: number;
  readonly prompt_eval_count: number;
  readonly prompt_eval_duration: number;
  readonly eval_count: number;
  readonly eval_duration: number;
}

/**
 * Counts the tokens that a model says. The evaluation time starts with the first token, so a single token takes no
 * time.
 */
function startMeter(promptTokens: number) {
  const start = performance.now();
  let tokens = 0;
  let first = start;
  let last = start;
  return {
    count(more: number) {
      if (more <= 0) return;
      last = performance.now();
      if (tokens === 0) first = last;
      tokens += more;
    },
    tokens: () => tokens,
    read: (): Metrics => ({
      total_duration: nanoseconds(performance.now() - start),
      load_duration: 1_000,
      prompt_eval_count: promptTokens,
      prompt_eval_duration: nanoseconds(first - start),
      eval_count: tokens,
      eval_duration: tokens > 1 ? nanoseconds(last - first) : 0,
    }),
  };
}

/** The metrics for the answer, without zeros. */
export function metricsOnWire(metrics: Metrics): object {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== 0));
}

function nanoseconds(milliseconds: number): number {
  return Math.max(1, Math.round(milliseconds * 1e6));
}
