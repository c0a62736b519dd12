import { setImmediate } from 'node:timers/promises';
import { Parser } from 'htmlparser2';
import { TooLargeError } from '../../protocol/base/byteStreams.ts';

/** How many characters are read before other work gets its turn. */
const pieceLength = 16 * 1024;
/** The parser moves all open elements at each one, so depth costs as size does. No article is nested so deeply. */
const maxDepth = 1_000;

/** What holds nothing to read. */
const silent = new Set(['script', 'style', 'noscript', 'template', 'svg', 'math', 'iframe', 'object', 'nav']);
/** Any other element ends the head, whose end tag may be left out, and so may `<body>`. */
const headContent = new Set(
  'title base link meta style script noscript template bgsound basefont noframes'.split(' '),
);
const blocks = new Set(
  'address article aside blockquote dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table tr ul'.split(
    ' ',
  ),
);

/**
 * The words of a page, with its headings, lists and code as Markdown has them. Any text is read in linear time.
 * @throws {TooLargeError} if elements are nested too deeply.
 */
export async function textOfHtml(html: string, signal: AbortSignal): Promise<string> {
  const words = new Words();
  let depth = 0;
  const parser = new Parser({
    onopentagname(name) {
      depth += 1;
      if (depth > maxDepth) throw new TooLargeError('The elements are nested too deeply.');
      words.open(name);
    },
    onclosetag(name) {
      depth -= 1;
      words.close(name);
    },
    ontext: (text) => words.add(text),
  });
  for (let at = 0; at < html.length; at += pieceLength) {
    parser.write(html.slice(at, at + pieceLength));
    await setImmediate();
    signal.throwIfAborted();
  }
  parser.end();
  return words.end();
}

class Words {
  readonly #parts: string[] = [];
  #silence = 0;
  /** The silence is that of the head. */
  #isHead = false;
  #inCode = 0;
  /** Whether a blank or a line end is due before the next word. */
  #gap: '' | ' ' | '\n' | '\n\n' = '';

  open(name: string): void {
    if (this.#isHead && this.#silence === 1 && !headContent.has(name)) this.#endHead();
    const beginsHead = name === 'head' && this.#silence === 0;
    if (beginsHead) this.#isHead = true;
    if (beginsHead || silent.has(name)) this.#silence += 1;
    if (this.#silence > 0) return;
    if (name === 'br') return this.#separate('\n');
    if (blocks.has(name)) this.#separate(name === 'li' || name === 'tr' ? '\n' : '\n\n');
    if (name === 'td' || name === 'th') this.#separate(' ');
    if (/^h[1-6]$/.test(name)) this.#write(`${'#'.repeat(Number(name[1]))} `);
    if (name === 'li') this.#write('- ');
    if (name === 'pre') {
      this.#inCode += 1;
      this.#write('```\n');
    }
  }

  close(name: string): void {
    if (name === 'head') this.#endHead();
    else if (silent.has(name)) this.#silence -= 1;
    if (this.#silence > 0) return;
    if (name === 'pre') {
      this.#inCode -= 1;
      this.#write('\n```');
    }
    if (blocks.has(name)) this.#separate(name === 'li' || name === 'tr' ? '\n' : '\n\n');
  }

  add(text: string): void {
    if (this.#silence > 0) return;
    if (this.#inCode > 0) return this.#write(text);
    const said = text.replace(/\s+/g, ' ');
    if (said.startsWith(' ')) this.#separate(' ');
    this.#write(said.trim());
    if (said.endsWith(' ')) this.#separate(' ');
  }

  end(): string {
    return this.#parts.join('').trim();
  }

  #endHead(): void {
    if (this.#isHead) this.#silence -= 1;
    this.#isHead = false;
  }

  #separate(gap: ' ' | '\n' | '\n\n'): void {
    // Of several, the widest counts.
    if (gap.length > this.#gap.length || (gap !== ' ' && this.#gap === ' ')) this.#gap = gap;
  }

  #write(text: string): void {
    if (text === '') return;
    this.#parts.push(this.#gap, text);
    this.#gap = '';
  }
}
