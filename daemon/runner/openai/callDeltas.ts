import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { RunnerError } from '../../base/errors.ts';
import { isNestedTooDeep } from '../../base/nesting.ts';
import type { CallPart, UnreadCall } from '../runner.ts';

/** More calls than any answer needs. Further ones are left out. */
const maxCalls = 1_000;
/** The most characters of all calls. */
const maxLength = 4 * 1024 * 1024;

/** The calls of an answer and those whose arguments cannot be read. */
export interface ReadCalls {
  readonly calls: readonly CallPart[];
  readonly malformed: readonly UnreadCall[];
}

/**
 * Joins the pieces of tool calls until they are whole. OpenAI numbers the calls; others number all of them 0, or none,
 * or repeat the identifier and the name in each piece, or the whole arguments at the end.
 */
export class CallDeltas {
  readonly #calls: OpenCall[] = [];
  /** The last call of each index. */
  readonly #byIndex = new Map<number, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  #size = 0;

  /** @throws {RunnerError} `bad-response`, once the calls are longer than the limit. */
  add(deltas: unknown): void {
    // TGI sends one call without a list.
    const list = Array.isArray(deltas) ? deltas : isRecord(deltas) && deltas['function'] ? [deltas] : [];
    for (const [position, delta] of list.entries()) if (isRecord(delta)) this.#addOne(delta, position);
  }

  /** The calls, in their order. Nothing may be added afterwards. */
  read(): ReadCalls {
    const calls: CallPart[] = [];
    const malformed: UnreadCall[] = [];
    for (const { id, name, text } of this.#calls) {
      const given = argumentsIn(text);
      const called = { ...(id === '' ? {} : { id }), name };
      if (given === undefined) malformed.push({ ...called, text });
      else if (name !== '') calls.push({ ...called, arguments: given });
    }
    return { calls, malformed };
  }

  #addOne(delta: Readonly<Record<string, unknown>>, position: number): void {
    const called = isRecord(delta['function']) ? delta['function'] : {};
    const [id, name, piece] = [textOf(delta['id']), textOf(called['name']), textOf(called['arguments'])];
    this.#size += id.length + name.length + piece.length;
    if (this.#size > maxLength) throw tooLong();
    const index = /^\d{1,4}$/.test(String(delta['index'])) ? Number(delta['index']) : position;
    const known = this.#byId.get(id) ?? this.#byIndex.get(index);
    const isNext = known?.isFollowedBy({ id, name, piece }) ?? true;
    if (isNext && this.#calls.length === maxCalls) return;
    const call = isNext ? new OpenCall(name || known?.name || '') : known;
    if (!call) return;
    if (isNext) this.#calls.push(call);
    this.#byIndex.set(index, call);
    if (id !== '') this.#byId.set(id, call);
    call.id ||= id;
    call.addName(name);
    call.add(piece);
  }
}

/** What one piece of a call says; empty where it says nothing. */
interface CallPiece {
  readonly id: string;
  readonly name: string;
  readonly piece: string;
}

/** A call of which there may be more to come. */
class OpenCall {
  id = '';
  readonly #pieces: string[] = [];
  #length = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The object of its arguments has ended. */
  #isWhole = false;

  constructor(public name: string) {}

  get text(): string {
    return this.#pieces.join('');
  }

  /** Whether a piece that is numbered like this call begins the next one. */
  isFollowedBy({ id, name, piece }: CallPiece): boolean {
    const isNamedFurther = id !== '' && id === this.id && this.#length === 0;
    const hasOtherName = name !== '' && this.name !== '' && name !== this.name && !isNamedFurther;
    const hasOtherId = id !== '' && this.id !== '' && id !== this.id;
    // Some servers make a new identifier for each piece, but name only the first.
    if (hasOtherName || (hasOtherId && name !== '')) return true;
    return this.#isWhole && piece.trimStart().startsWith('{') && (hasOtherId || !this.#isRepeatedBy(piece));
  }

  /** A name may come in pieces before the arguments. Most servers that send it again send all of it. */
  addName(name: string): void {
    if (name.startsWith(this.name)) this.name = name;
    else this.name += name;
  }

  /** The whole arguments once more say nothing. */
  add(piece: string): void {
    if (piece === '' || (this.#isWhole && this.#isRepeatedBy(piece))) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
    for (let at = 0; at < piece.length && !this.#isWhole; at += 1) this.#follow(piece.charCodeAt(at));
  }

  #isRepeatedBy(piece: string): boolean {
    return piece.length === this.#length && piece === this.text;
  }

  #follow(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString && code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = !this.#isInString;
    else if (this.#isInString) return;
    else if (code === openBrace) this.#depth += 1;
    else if (code === closeBrace) this.#isWhole = --this.#depth === 0;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Some servers send an object instead of its text. */
function textOf(given: unknown): string {
  if (typeof given === 'string') return given;
  return isRecord(given) ? JSON.stringify(given) : '';
}

/** A call without parameters may have no text at all. */
function argumentsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  if (isNestedTooDeep(text)) return undefined;
  const value = tryJson(text);
  return isRecord(value) ? value : undefined;
}

function tooLong(): RunnerError {
  return new RunnerError(
    'bad-response',
    'The arguments of a tool call have grown beyond 4 million characters, and the answer was stopped. Ask again.',
  );
}
