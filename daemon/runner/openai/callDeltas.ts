import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { RunnerError } from '../../base/errors.ts';
import { isNestedTooDeep } from '../../base/nesting.ts';
import type { CallPart } from '../runner.ts';

/** More calls than any answer needs. Further ones are left out. */
const maxCalls = 1_000;
/** The most characters of the arguments of all calls. */
const maxArguments = 4 * 1024 * 1024;

interface OpenCall {
  id?: string;
  name: string;
  readonly pieces: string[];
}

/** The calls of an answer and the names of those whose arguments cannot be read. */
export interface ReadCalls {
  readonly calls: readonly CallPart[];
  readonly malformed: readonly string[];
}

/** Joins the pieces of tool calls, which arrive by index, until they are whole. */
export class CallDeltas {
  readonly #calls = new Map<number, OpenCall>();
  #size = 0;

  /** @throws {RunnerError} `bad-response`, once the arguments are longer than the limit. */
  add(deltas: unknown): void {
    // TGI sends one call without a list.
    const list = Array.isArray(deltas) ? deltas : isRecord(deltas) && deltas['function'] ? [deltas] : [];
    for (const [position, delta] of list.entries()) if (isRecord(delta)) this.#addOne(delta, position);
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  /** The calls, in their order. Nothing may be added afterwards. */
  read(): ReadCalls {
    const calls: CallPart[] = [];
    const malformed: string[] = [];
    for (const { id, name, pieces } of this.#calls.values()) {
      const given = argumentsIn(pieces.join(''));
      if (given === undefined) malformed.push(name);
      else if (name !== '') calls.push({ ...(id === undefined ? {} : { id }), name, arguments: given });
    }
    return { calls, malformed };
  }

  /** A name may come in pieces before the arguments. Most servers that send it again send all of it. */
  #addName(call: OpenCall, name: string): void {
    if (call.name === '' || name.startsWith(call.name)) call.name = name || call.name;
    else if (call.pieces.every((piece) => piece === '')) call.name += name;
  }

  #addOne({ index, id, function: called }: Readonly<Record<string, unknown>>, position: number): void {
    const key = /^\d{1,4}$/.test(String(index)) ? Number(index) : position;
    const known = this.#calls.get(key);
    if (!known && this.#calls.size === maxCalls) return;
    const call: OpenCall = known ?? { name: '', pieces: [] };
    this.#calls.set(key, call);
    if (typeof id === 'string' && id !== '') call.id ??= id;
    if (!isRecord(called)) return;
    this.#addName(call, textOf(called['name']));
    const piece = textOf(called['arguments']);
    this.#size += piece.length;
    if (this.#size > maxArguments) throw tooLong();
    call.pieces.push(piece);
  }
}

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
