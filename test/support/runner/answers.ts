import { setTimeout as wait } from 'node:timers/promises';
import { splitTokens } from '../../../daemon/practice/exchange.ts';
import { encodeJson } from '../../../daemon/practice/practiceRunner.ts';
import { aborted, type RawExchange, type Script } from './scriptedAnswer.ts';
import type { Piece, ScriptedCall, ScriptedSpeaker } from './scriptedSpeech.ts';

/** What the stand-in answers to one request, once. */
export type Answer =
  /** The model's words; the server frames them for the route that was asked, streamed or not. */
  | {
      readonly kind: 'speech';
      readonly pieces: () => Iterable<Piece> | AsyncIterable<Piece>;
      readonly firstByteAfter?: number;
      readonly perSecond?: number;
    }
  /** Bytes of our own, in writes of our own. */
  | {
      readonly kind: 'raw';
      readonly writes: readonly (string | Buffer)[];
      readonly head: Head;
      readonly end: End;
    }
  /** Never a first byte. */
  | { readonly kind: 'hang' };

interface Head {
  readonly status?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How bytes of our own end: the answer is complete, the connection is lost, or nothing more ever comes. */
type End = 'complete' | 'reset' | 'open';

interface SayOptions {
  readonly thinking?: string | readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** The calls come inside of the line that says `done`. */
  readonly callsInLastLine?: boolean;
  /** What comes instead of `done`. */
  readonly ending?: 'cut' | 'crash' | { readonly error: string };
  /** Milliseconds before anything is sent. */
  readonly firstByteAfter?: number;
  /** Tokens a second; default: as fast as they are read. */
  readonly perSecond?: number;
}

interface RawOptions extends Head {
  /** Byte offsets at which the writes are cut, or the size of each; default: one write. */
  readonly cut?: number | readonly number[];
  readonly end?: End;
}

/** The ways to say what comes next; each adds one answer. */
export interface Vocabulary {
  answer(answer: Answer): void;
  /** A text, cut at its words, or in the pieces given. */
  say(text: string | readonly string[], options?: SayOptions): void;
  think(thinking: string | readonly string[], text: string | readonly string[]): void;
  toolCalls(calls: readonly ScriptedCall[], options?: SayOptions & { readonly text?: string }): void;
  /** A call that the runner could not read: an empty last line with a count. */
  swallowToolCall(tokens?: number): void;
  /** `n` tokens, "1 ", "2 " and so on. */
  tokens(n: number, options?: SayOptions): void;
  /** One line of about so many bytes. */
  giantLine(bytes: number): void;
  slowFirstByte(milliseconds: number, text?: string): void;
  hang(): void;
  /** A string body is sent as it is, everything else as JSON. */
  failWith(status: number, body?: unknown, head?: Omit<Head, 'status'>): void;
  /** The connection is lost after so many lines. */
  dieMidAnswer(lines: number): void;
  endWithoutDone(text: string | readonly string[]): void;
  /** Some text, then an error line with status 200. */
  errorLine(error: string, text?: string | readonly string[]): void;
  html(page?: string, status?: number): void;
  redirect(location: string, status?: number): void;
  /** Lines as they are (a string) or of objects, in writes cut anywhere. */
  rawLines(lines: string | Buffer | readonly unknown[], options?: RawOptions): void;
}

export function createVocabulary(add: (answer: Answer) => void): Vocabulary {
  const say: Vocabulary['say'] = (text, options = {}) => add(speechOf(text, options));
  const raw = (body: string | Buffer, options: RawOptions) => add(rawOf(body, options));
  return {
    answer: add,
    say,
    think: (thinking, text) => say(text, { thinking }),
    toolCalls: (calls, options = {}) => say(options.text ?? [], { ...options, calls }),
    swallowToolCall: (tokens = 31) => add({ kind: 'speech', pieces: () => [{ kind: 'lost', tokens }] }),
    tokens: (n, options = {}) => add({ ...speechOf([], options), pieces: () => numberedTokens(n) }),
    giantLine: (bytes) => say(['x'.repeat(bytes)]),
    slowFirstByte: (firstByteAfter, text = 'late') => say(text, { firstByteAfter }),
    hang: () => add({ kind: 'hang' }),
    failWith: (status, body = { error: `failed with ${status}` }, head = {}) =>
      raw(typeof body === 'string' ? body : encodeJson(body), { ...jsonHead, ...head, status }),
    dieMidAnswer: (lines) =>
      say(
        Array.from({ length: lines }, (_, index) => `${index + 1} `),
        { ending: 'crash' },
      ),
    endWithoutDone: (text) => say(text, { ending: 'cut' }),
    errorLine: (error, text = ['so ', 'far ']) => say(text, { ending: { error } }),
    html: (page = '<!DOCTYPE html><html><body>A page</body></html>', status = 200) =>
      raw(page, { status, contentType: 'text/html; charset=utf-8' }),
    redirect: (location, status = 302) => raw('', { status, headers: { location } }),
    rawLines: (lines, options = {}) =>
      raw(linesToBytes(lines), { contentType: 'application/x-ndjson', ...options }),
  };
}

/** The answer as the practice runner's hook wants it. */
export function answerToScript(answer: Answer): NonNullable<ReturnType<Script>> {
  switch (answer.kind) {
    case 'speech':
      return { kind: 'speech', speak: speakerOf(answer) };
    case 'raw':
      return { kind: 'answer', write: (exchange) => writeRaw(exchange, answer) };
    case 'hang':
      return { kind: 'answer', write: ({ signal }) => aborted(signal) };
  }
}

const jsonHead = { contentType: 'application/json; charset=utf-8' };

function speechOf(text: string | readonly string[], options: SayOptions): Answer & { kind: 'speech' } {
  const { firstByteAfter, perSecond } = options;
  return {
    kind: 'speech',
    pieces: () => piecesOf(text, options),
    ...(firstByteAfter === undefined ? {} : { firstByteAfter }),
    ...(perSecond === undefined ? {} : { perSecond }),
  };
}

function* piecesOf(text: string | readonly string[], options: SayOptions): Generator<Piece> {
  const { thinking = [], calls = [], callsInLastLine = false, ending } = options;
  for (const part of tokensOf(thinking)) yield { kind: 'thinking', text: part };
  for (const part of tokensOf(text)) yield { kind: 'text', text: part };
  if (calls.length > 0) yield { kind: 'calls', calls, inLastLine: callsInLastLine };
  if (ending === 'cut' || ending === 'crash') yield { kind: ending };
  else if (ending !== undefined) yield { kind: 'failure', message: ending.error };
}

function* numberedTokens(n: number): Generator<Piece> {
  for (let index = 1; index <= n; index += 1) yield { kind: 'text', text: `${index} ` };
}

function tokensOf(text: string | readonly string[]): readonly string[] {
  return typeof text === 'string' ? splitTokens(text) : text;
}

function speakerOf({
  pieces,
  firstByteAfter = 0,
  perSecond = Number.POSITIVE_INFINITY,
}: Answer & { kind: 'speech' }): ScriptedSpeaker {
  // Tokens come at a steady speed, however long the waits themselves take.
  return async function* speak({ signal }) {
    if (firstByteAfter > 0) await wait(firstByteAfter, undefined, { signal });
    let due = performance.now();
    for await (const piece of pieces()) {
      due += 1_000 / perSecond;
      const early = due - performance.now();
      if (early > 0) await wait(early, undefined, { signal });
      yield piece;
    }
  };
}

function rawOf(body: string | Buffer, { cut = [], end = 'complete', ...head }: RawOptions): Answer {
  const bytes = Buffer.from(body);
  const offsets =
    typeof cut === 'number'
      ? Array.from({ length: Math.ceil(bytes.length / cut) - 1 }, (_, index) => (index + 1) * cut)
      : cut;
  const writes = [0, ...offsets].map((start, index) => bytes.subarray(start, offsets[index] ?? bytes.length));
  return { kind: 'raw', writes, head, end };
}

/** Each write reaches the client as a read of its own, as far as a network lets it. */
async function writeRaw(
  { response, signal, drop }: RawExchange,
  { writes, head, end }: Answer & { kind: 'raw' },
): Promise<void> {
  const { status = 200, contentType, headers } = head;
  response.writeHead(status, { ...(contentType ? { 'content-type': contentType } : {}), ...headers });
  for (const bytes of writes) {
    signal.throwIfAborted();
    if (bytes.length > 0) response.write(bytes);
    if (writes.length > 1) await wait(1, undefined, { signal });
  }
  if (end === 'complete') response.end();
  else if (end === 'open') await aborted(signal);
  else {
    await wait(5, undefined, { signal });
    drop();
  }
}

function linesToBytes(lines: string | Buffer | readonly unknown[]): string | Buffer {
  if (typeof lines === 'string' || Buffer.isBuffer(lines)) return lines;
  return lines.map((line) => `${typeof line === 'string' ? line : encodeJson(line)}\n`).join('');
}
