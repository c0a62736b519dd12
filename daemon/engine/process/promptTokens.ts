import { randomBytes } from 'node:crypto';
import type { NativeModelHandle, Token } from './library.ts';

/** What is needed of a model to turn text into tokens. */
export type Tokenizer = Pick<
  NativeModelHandle,
  'tokenize' | 'detokenize' | 'getTokenAttributes' | 'iterateAllTokens' | 'vocabularyType'
> & { readonly tokens: Pick<NativeModelHandle['tokens'], 'bos' | 'shouldPrependBosToken'> };

/**
 * The control tokens of a model, such as `<|im_end|>`. The tokenizer would turn their text into the token itself
 * wherever it stands, so that whoever writes it in a message could end the turn and begin another one. What comes from
 * outside is therefore marked before a template writes it into the prompt, and only the marked text is tokenized as
 * plain text. Everything else gets the tokens that the model knows from its training.
 */
export class PromptTokens {
  /** By their first character; the longest one first. */
  readonly #controls = new Map<string, string[]>();
  /** Letters and digits survive what templates do with a text. Nobody outside can know them. */
  readonly #mark = `q${randomBytes(12).toString('hex')}`;
  readonly #marked: string[] = [];
  #size = 0;

  constructor(private readonly model: Tokenizer) {
    for (const token of model.iterateAllTokens()) {
      this.#size = Math.max(this.#size, token + 1);
      const { control, unknown } = model.getTokenAttributes(token);
      const text = control || unknown ? model.detokenize([token], true) : '';
      const [first] = text;
      if (first === undefined) continue;
      this.#controls.set(first, [...(this.#controls.get(first) ?? []), text]);
    }
    for (const texts of this.#controls.values()) texts.sort((one, other) => other.length - one.length);
  }

  isToken(number: number): boolean {
    return number >= 0 && number < this.#size;
  }

  /** A text in which everything that could become a control token is marked. */
  protect(text: string): string {
    // What follows could complete what stands at the end, also where a template cuts off the blanks.
    const end = text.trimEnd().length;
    let result = '';
    let kept = 0;
    for (let at = 0; at < end; at++) {
      const control = this.#controlAt(text, at, end);
      if (control === undefined) continue;
      result += text.slice(kept, at) + this.#marking(control);
      kept = at + control.length;
      at = kept - 1;
    }
    return result + text.slice(kept);
  }

  /** The same for all texts in a value, the names of its fields included. */
  protectAll(value: unknown): unknown {
    if (typeof value === 'string') return this.protect(value);
    if (Array.isArray(value)) return value.map((item) => this.protectAll(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [this.protect(key), this.protectAll(field)]),
    );
  }

  /** The tokens of a text that a template writes from what was marked, and the text itself without the marks. */
  write(render: () => string): { readonly tokens: Token[]; readonly text: string } {
    try {
      return this.#read(render());
    } finally {
      this.#marked.length = 0;
    }
  }

  /** With the token that begins each text, if the model has one and it is not there yet. */
  withBeginning(tokens: Token[]): Token[] {
    const { bos, shouldPrependBosToken: begins } = this.model.tokens;
    return begins && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens;
  }

  #read(rendered: string) {
    // A template may write in capitals.
    const pieces = rendered.split(new RegExp(`${this.#mark}(\\d+)x`, 'i'));
    const texts = pieces.map((piece, index) =>
      index % 2 === 0 ? piece : (this.#marked[Number(piece)] ?? ''),
    );
    const tokens = texts.flatMap((text, index) => this.#tokens(text, index % 2 === 0, index > 0));
    return { tokens: this.withBeginning(tokens), text: texts.join('') };
  }

  #tokens(text: string, isTemplate: boolean, continues: boolean): Token[] {
    if (text === '') return [];
    // This kind of vocabulary begins each text with a blank of its own.
    const trims = continues && this.model.vocabularyType === 'spm';
    return this.model.tokenize(text, isTemplate, trims ? 'trimLeadingSpace' : undefined);
  }

  /** What begins at a place: a control token, or the beginning of one with which the text ends. */
  #controlAt(text: string, at: number, end: number): string | undefined {
    const candidates = this.#controls.get(text[at] ?? '') ?? [];
    const whole = candidates.find((control) => text.startsWith(control, at));
    const [longest = ''] = candidates;
    if (whole !== undefined || end - at >= longest.length) return whole;
    const rest = text.slice(at, end);
    return candidates.some((control) => control.startsWith(rest)) ? rest : undefined;
  }

  #marking(text: string): string {
    return `${this.#mark}${this.#marked.push(text) - 1}x`;
  }
}
