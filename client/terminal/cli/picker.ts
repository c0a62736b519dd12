import { emitKeypressEvents } from 'node:readline';
import { PassThrough } from 'node:stream';
import { cutTo } from '../screen/columns.ts';
import type { Terminal } from './terminal.ts';

/** A list that is searched. */
interface ChoiceList<T> {
  readonly title: string;
  /** What is typed into the search at first, or `''`. */
  readonly query: string;
  /** What a search finds, the best first. An error means that it finds nothing. */
  readonly search: (query: string, signal: AbortSignal) => Promise<readonly T[]>;
  /** A line for each, without control characters, at most this many columns wide. */
  readonly rows: (items: readonly T[], columns: number) => readonly string[];
}

interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
}

/** The most lines that are shown at once. */
const maxShown = 10;
const howTo = 'Type to search; ↑ and ↓ choose, Enter opens, Esc leaves.';

/**
 * Lets the user choose one of a list that is searched while they type. Undefined if they leave. Standard error must be
 * a screen on which text can be replaced, and afterwards nothing is left on it.
 */
export async function pick<T>(terminal: Terminal, list: ChoiceList<T>): Promise<T | undefined> {
  const { stdin } = terminal;
  const stream = terminal.stderr.stream;
  // Whoever first wants keys of a stream decides for good how long Escape waits for what belongs to it, and that is for
  // the conversation to decide. So the keys of the list are read from a stream of their own.
  const typed = new PassThrough();
  emitKeypressEvents(typed);
  const onData = (chunk: Buffer | string) => void typed.write(chunk);
  stdin.setRawMode?.(true);
  const picker = new Picker(terminal, list);
  const onKeypress = (text: string | undefined, key: Key) => picker.key(text ?? '', key);
  const onResize = () => picker.draw();
  const onEnd = () => picker.finish(undefined);
  typed.on('keypress', onKeypress);
  stdin.on('data', onData);
  stdin.on('end', onEnd);
  stream.on('resize', onResize);
  stdin.resume();
  try {
    return await picker.chosen;
  } finally {
    stdin.off('data', onData);
    typed.destroy();
    stdin.off('end', onEnd);
    stream.off('resize', onResize);
    stdin.pause();
    stdin.setRawMode?.(false);
    stream.write('\r\u001b[J');
  }
}

class Picker<T> {
  readonly chosen: Promise<T | undefined>;
  #resolve: (item: T | undefined) => void = () => undefined;
  readonly #terminal: Terminal;
  readonly #list: ChoiceList<T>;
  #query: string;
  #items: readonly T[] = [];
  #at = 0;
  #isSearching = true;
  /** Enter was pressed before the search had ended. */
  #takesFirst = false;
  #newest = new AbortController();

  constructor(terminal: Terminal, list: ChoiceList<T>) {
    this.#terminal = terminal;
    this.#list = list;
    this.#query = list.query;
    this.chosen = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    void this.#search();
  }

  finish(item: T | undefined): void {
    this.#newest.abort();
    this.#resolve(item);
  }

  key(text: string, { name, ctrl = false }: Key): void {
    if (name === 'return' || name === 'enter') return this.#choose();
    if (name === 'escape' || (ctrl && (name === 'c' || name === 'd'))) return this.finish(undefined);
    const step = stepOf(name, ctrl);
    if (step !== 0) return this.#move(step);
    if (name === 'backspace') return this.#retype([...this.#query].slice(0, -1).join(''));
    if (ctrl && name === 'u') return this.#retype('');
    if (ctrl && name === 'w') return this.#retype(this.#query.replace(/\S*\s*$/, ''));
    if (/^[^\p{Cc}]+$/u.test(text)) this.#retype(this.#query + text);
  }

  /** The cursor stays in the first line, behind what is typed. */
  draw(): void {
    if (this.#newest.signal.aborted) return;
    const { stream, style, columns, rows } = this.#terminal.stderr;
    const shown = Math.max(1, Math.min(maxShown, rows - 3));
    const from = Math.max(0, Math.min(this.#at, this.#at - shown + 2, this.#items.length - shown));
    const visible = this.#items.slice(from, from + shown);
    const lines = this.#list
      .rows(visible, columns - 3)
      .map((row, index) => (from + index === this.#at ? style.cyan(`› ${row}`) : `  ${row}`));
    const nothing = this.#isSearching ? 'Searching …' : 'Nothing has these words.';
    const shownLines = lines.length === 0 ? [style.dim(`  ${nothing}`)] : lines;
    const foot = style.dim(cutTo(howTo, columns - 1));
    const head = `${this.#list.title} ${cutTo(this.#query, columns - this.#list.title.length - 3)}`;
    const below = [...shownLines, foot];
    stream.write(`\r\u001b[J\r\n${below.join('\r\n')}\u001b[${below.length}A\r${head}`);
  }

  #choose(): void {
    // The list is still that of an earlier search.
    if (this.#isSearching) this.#takesFirst = true;
    else if (this.#items[this.#at] !== undefined) this.finish(this.#items[this.#at]);
  }

  #move(step: number): void {
    this.#at = Math.max(0, Math.min(this.#items.length - 1, this.#at + step));
    this.draw();
  }

  #retype(query: string): void {
    this.#query = query;
    this.#isSearching = true;
    this.#takesFirst = false;
    this.draw();
    void this.#search();
  }

  /** Only what the newest search finds is shown. */
  async #search(): Promise<void> {
    this.#newest.abort();
    this.#newest = new AbortController();
    const { signal } = this.#newest;
    const found = await this.#list.search(this.#query, signal).catch(() => []);
    if (signal.aborted) return;
    this.#items = found;
    this.#at = 0;
    this.#isSearching = false;
    if (this.#takesFirst) this.#choose();
    this.#takesFirst = false;
    this.draw();
  }
}

function stepOf(name: string | undefined, ctrl: boolean): number {
  if (name === 'up' || (ctrl && name === 'p')) return -1;
  if (name === 'down' || (ctrl && name === 'n')) return 1;
  if (name === 'pageup') return -maxShown;
  return name === 'pagedown' ? maxShown : 0;
}
