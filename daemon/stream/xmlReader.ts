import { closeBrace, greater, isBlank, openBrace } from './characters.ts';

/** A function's or parameter's name is never longer. */
const longestName = 256;
const parameterOpen = '<parameter';
const parameterClose = '</parameter>';

type State = 'name' | 'between' | 'parameterName' | 'value' | 'object';

/**
 * Finds the end of `<function=name>…</function>` after the `<function=`. Values are verbatim: a close tag inside
 * one ends it only where the next parameter or the end of the call follows.
 */
export class XmlReader {
  failed = false;
  begun = false;
  /** Whether it failed because the tool that it names was not offered. */
  isUnknown = false;
  readonly #close: string;
  readonly #knows: (name: string) => boolean;
  #state: State = 'name';
  #name = '';
  /** The tag that is being read, as far as it came. */
  #mark = '';
  #inValue = false;
  #last = 0;

  constructor(close: string, knows: (name: string) => boolean) {
    this.#close = close;
    this.#knows = knows;
  }

  /** The index after the close tag, or that of the character which refutes it (`failed`), or -1 for more. */
  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      if (this.#state === 'value' && this.#mark === '') at = nextTag(text, at);
      const done = at < text.length && this.#step(text.charAt(at), text.charCodeAt(at));
      if (this.failed) return at;
      if (done) return at + 1;
    }
    return -1;
  }

  #step(character: string, code: number): boolean {
    switch (this.#state) {
      case 'name':
        return this.#nameStep(character, code);
      case 'between':
        return this.#betweenStep(character, code);
      case 'parameterName':
        if (code === greater) this.#enterValue();
        return false;
      case 'value':
        this.#valueStep(character);
        return false;
      case 'object':
        return this.#objectStep(character, code);
    }
  }

  #nameStep(character: string, code: number): boolean {
    if (code !== greater) {
      this.#name += character;
      this.failed = this.#name.length > longestName || character === '<' || character === '\n';
      return false;
    }
    this.isUnknown = this.failed = !this.#knows(this.#name.trim().replace(/^(["'])(.*)\1$/s, '$2'));
    this.begun = !this.failed;
    this.#state = 'between';
    return false;
  }

  /** Between parameters: the next one, the end, or the discovery that the value goes on. */
  #betweenStep(character: string, code: number): boolean {
    if (this.#mark === '' && isBlank(code)) return false;
    if (this.#mark === '' && code === openBrace && !this.#inValue) this.#state = 'object';
    else {
      this.#mark += character;
      if (this.#mark === this.#close) return true;
      if (/^<parameter[= ]$/.test(this.#mark)) {
        this.#state = 'parameterName';
      } else if (!this.#close.startsWith(this.#mark) && !parameterOpen.startsWith(this.#mark))
        this.#goOn(character);
    }
    return false;
  }

  #goOn(character: string): void {
    this.failed = !this.#inValue;
    this.#state = 'value';
    this.#mark = character === '<' ? '<' : '';
  }

  #enterValue(): void {
    this.#state = 'value';
    this.#inValue = true;
    this.#mark = '';
  }

  #valueStep(character: string): void {
    this.#mark = follow(parameterClose, this.#mark, character);
    if (this.#mark !== parameterClose) return;
    this.#state = 'between';
    this.#mark = '';
  }

  /** `<function=name>{…}</function>`: the close tag counts after the closing brace only. */
  #objectStep(character: string, code: number): boolean {
    const mark = follow(this.#close, this.#mark, character);
    this.#mark = mark === '<' && this.#last !== closeBrace ? '' : mark;
    if (this.#mark === '' && !isBlank(code)) this.#last = code;
    return this.#mark === this.#close;
  }
}

/** What of `literal` has been read after one more character; no literal here has a second `<`. */
function follow(literal: string, mark: string, character: string): string {
  if (literal.startsWith(mark + character)) return mark + character;
  return character === '<' ? '<' : '';
}

function nextTag(text: string, from: number): number {
  const at = text.indexOf('<', from);
  return at < 0 ? text.length : at;
}
