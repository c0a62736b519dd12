import { LongText } from './characters.ts';
import type { EchoSearch } from './echoes.ts';
import { BlockReader, MarkReader } from './elements.ts';
import { endedBy, type Mode, type OpenBlock, type Reply } from './reply.ts';

/**
 * Withholds a block as long as its content may be an echo of what was sent. An echo is removed. Otherwise the content
 * is read as if it had not been withheld.
 */
export class ContextBlock implements Mode {
  #held = new LongText();
  readonly #reader: BlockReader | MarkReader;
  readonly #search: EchoSearch;
  /** The end of the withheld text, which may be the close tag. */
  #undecided = '';
  /** How often the text of the block was read before. */
  readonly #readings: number;

  constructor(
    private readonly reply: Reply,
    private readonly block: OpenBlock,
  ) {
    this.#reader = block.close === undefined ? new BlockReader(block.name) : new MarkReader(block.close);
    this.#search = reply.echoes.search(block.isResult ? undefined : block.name);
    this.#readings = reply.readings;
  }

  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const character = text.charAt(at);
      this.reply.visit(1);
      this.#held.add(character);
      const isClosed = this.#reader.read(character, 0) >= 0;
      if (!isClosed && this.#mayBeEcho(character)) continue;
      if (isClosed && this.#search.isWhole) this.#remove();
      else this.#release();
      return at + 1;
    }
    return text.length;
  }

  finish(reason: string): void {
    const { name, close } = this.block;
    this.reply.sink.add({
      type: 'warning',
      code: 'unclosed-context',
      message: `${endedBy(reason)} inside ${close === undefined ? `<${name}>` : name}, which never closed; it is shown as text.`,
    });
    this.#release();
  }

  /** What may be the close tag is no content yet. */
  #mayBeEcho(character: string): boolean {
    this.#undecided += character;
    const decided = this.#undecided.length - this.#reader.begun;
    if (decided === 0) return true;
    const content = this.#undecided.slice(0, decided);
    this.#undecided = this.#undecided.slice(decided);
    const before = this.reply.echoes.steps;
    const isEcho = this.#search.add(content);
    this.reply.visit(this.reply.echoes.steps - before);
    return isEcho;
  }

  #remove(): void {
    const { name, lead, tag, beginsLine } = this.block;
    this.reply.sink.markup(lead);
    this.reply.sink.add({ type: 'context', name, text: tag + this.#held.toString() });
    this.#held = new LongText();
    this.reply.enterAfterContext(beginsLine);
  }

  #release(): void {
    const held = this.#held.toString();
    this.#held = new LongText();
    this.reply.enterContent(this.block);
    this.reply.readAgain(held, this.#readings + 1);
  }
}
