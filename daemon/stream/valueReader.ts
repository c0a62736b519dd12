import {
  backslash,
  closeBrace,
  closeBracket,
  doubleQuote,
  isBlank,
  less,
  openBrace,
  openBracket,
  singleQuote,
} from './characters.ts';
import { tryParseJson } from './jsonRepair.ts';
import type { OfferedTools } from './offeredTools.ts';

/** Keys that an object has which is a tool call; the first key of another kind ends the suspicion. */
const callKeys = new Set(
  'name arguments parameters function type tool tool_name function_name tool_calls function_call id args input'.split(
    ' ',
  ),
);
const nameKeys = new Set(['name', 'tool', 'tool_name', 'function_name']);

/** A string of this length is neither a key of a call nor a tool's name. */
const longestName = 256;

/**
 * Finds the end of one value that may be a tool call, or a list of them: JSON, or calls as Python writes them.
 * Every character is read once, however the value is cut. It fails as early as the value cannot be a call:
 * at a first key that calls do not have, or at the name of a tool that was not offered.
 */
export class ValueReader {
  failed = false;
  /** Whether what was read looked like a call before it failed. */
  begun = false;
  /** Whether it failed because the tool that it names was not offered. */
  isUnknown = false;
  readonly #tools: OfferedTools;
  /** Depth at which the objects are that should be calls: 1, or 2 in a list. */
  #callDepth = 1;
  #depth = 0;
  #quote = 0;
  #escaped = false;
  #python = false;
  /** The word or string that is being read, as far as it can matter. */
  #word = '';
  #key = '';
  #wantsKey = false;
  #wantsValue = false;
  #firstKey = true;

  constructor(tools: OfferedTools) {
    this.#tools = tools;
  }

  /** The index after the value, or that of the character which refutes it (`failed`), or -1 for more. */
  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#quote !== 0) this.#stringStep(text, at, code);
      else this.#step(text, at, code);
      if (this.failed) return at;
      if (this.#depth === 0 && this.#quote === 0) return at + 1;
    }
    return -1;
  }

  #stringStep(text: string, at: number, code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === backslash) this.#escaped = true;
    else if (code === this.#quote) {
      this.#quote = 0;
      this.#endString();
      return;
    }
    if ((this.#wantsKey || this.#wantsValue) && this.#word.length <= longestName) this.#word += text[at];
  }

  #step(text: string, at: number, code: number): void {
    if (isBlank(code)) return;
    if (this.#python) this.#pythonStep(code);
    else if (this.#depth === this.#callDepth) this.#callStep(code);
    else if (this.#depth < this.#callDepth) this.#startStep(text, at, code);
    else this.#deepStep(code);
  }

  /** Before the first object: an opening brace, a list, or the name of a Python call in a list. */
  #startStep(text: string, at: number, code: number): void {
    if (code === openBrace && this.#word === '') this.#enterObject();
    else if (this.#depth === 0 && code === openBracket) {
      this.#depth = 1;
      this.#callDepth = 2;
    } else if (this.begun) this.#betweenObjects(code);
    else if (code === 40 && this.#tools.find(this.#word) !== undefined) {
      this.#python = this.begun = true;
      this.#depth++;
    } else {
      this.#word += text[at];
      this.failed = this.#depth === 0 || !this.#tools.mayBecome(this.#word);
    }
  }

  #betweenObjects(code: number): void {
    if (code === closeBracket) this.#depth--;
    else this.failed = code !== 44;
  }

  #enterObject(): void {
    this.#depth++;
    this.#wantsKey = true;
    this.#wantsValue = false;
    this.#firstKey = true;
    this.#word = '';
  }

  /** Directly in the object that should be a call. */
  #callStep(code: number): void {
    if (code === doubleQuote) this.#quote = code;
    else if (code === 58) this.#endKey();
    else if (code === 44) {
      this.#wantsKey = true;
      this.#wantsValue = false;
    } else if (code === closeBrace) {
      // An object without a key is an answer, not a call.
      this.failed = this.#firstKey;
      this.#depth--;
    } else if (code === openBrace || code === openBracket) {
      this.failed = this.#wantsKey || (this.#wantsValue && code === openBrace && this.#key === 'name');
      this.#wantsValue = false;
      this.#depth++;
    } else this.failed = this.#wantsKey || code === closeBracket || code === less;
  }

  #endKey(): void {
    this.#wantsKey = false;
    this.#wantsValue = nameKeys.has(this.#key);
    this.#word = '';
  }

  #endString(): void {
    if (this.#depth !== this.#callDepth || this.#python) return;
    const word = this.#word.includes('\\') ? decoded(this.#word) : this.#word;
    if (this.#wantsKey) {
      this.#key = word;
      this.failed = this.#firstKey && !callKeys.has(this.#key);
      this.#firstKey = false;
      this.begun ||= !this.failed;
    } else if (this.#wantsValue) {
      this.isUnknown = this.failed = this.#tools.find(word) === undefined;
      this.#wantsValue = false;
    }
    this.#word = '';
  }

  #deepStep(code: number): void {
    if (code === doubleQuote) this.#quote = code;
    else if (code === openBrace || code === openBracket) this.#depth++;
    else if (code === closeBrace || code === closeBracket) this.#depth--;
    else this.failed = code === less;
  }

  #pythonStep(code: number): void {
    if (code === doubleQuote || code === singleQuote) this.#quote = code;
    else if (code === 40 || code === openBrace || code === openBracket) this.#depth++;
    else if (code === 41 || code === closeBrace || code === closeBracket) this.#depth--;
  }
}

/** Some templates write every letter beyond ASCII as an escape, in names too. */
function decoded(word: string): string {
  const plain = tryParseJson(`"${word}"`);
  return typeof plain === 'string' ? plain : word;
}
