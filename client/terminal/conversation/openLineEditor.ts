import { createInterface } from 'node:readline';
import { showLine } from '../../../protocol/base/text.ts';
import { resumeAfterSuspend, type Terminal } from '../cli/terminal.ts';
import { MutedOutput } from '../screen/output.ts';
import { historySize, lineEnd } from './history.ts';
import {
  beginPasteMarks,
  endPasteMarks,
  type InputLine,
  LineEditor,
  type LineEditorOptions,
} from './lineEditor.ts';
import type { SlashCompletion } from './slashCompletion.ts';

/** After how many ms Tab gives up. Until it is answered, readline reads no key, not even Ctrl-C. */
const completionLimit = 1_000;

/** A line editor over Node's readline, which gets the keys that none of ours takes. */
export function openLineEditor(terminal: Terminal, options: LineEditorOptions = {}): LineEditor {
  const { history = [] } = options;
  const { stdin } = terminal;
  const stdout = terminal.stdout.stream;
  const output = new MutedOutput(stdout);
  const readline = createInterface({
    input: stdin,
    output,
    terminal: true,
    history,
    historySize,
    removeHistoryDuplicates: true,
    crlfDelay: Number.POSITIVE_INFINITY,
    completer: (line: string, answer: (error: null, result: [string[], string]) => void) => {
      inTime(editor.complete(line)).then((completion) => {
        answer(null, [[...(completion?.candidates ?? [])], completion?.completed ?? '']);
        if (completion === undefined) readline.write('\t');
      });
    },
  });
  const editor = new LineEditor(readline, output, { ...options, history, terminal });
  const keys = new LineKeys(editor);
  // Readline is the last that has begun to listen. It gets what is left of the keys.
  const listeners = stdin.listeners('keypress') as ((text: unknown, key: unknown) => void)[];
  const toReadline = listeners.at(-1);
  if (toReadline) stdin.off('keypress', toReadline);
  const onKeypress = (text: string | undefined, key: Key = {}) => {
    editor.key(key.name, key.ctrl === true && key.name === 'c');
    if (!keys.takes(text ?? '', key)) toReadline?.(text, key);
  };
  stdin.on('keypress', onKeypress);
  readline.on('history', (lines: string[]) => editor.noteHistory(lines));
  readline.on('line', (line) => editor.endLine(line));
  readline.on('SIGINT', () => {
    keys.endSearch();
    editor.controlC();
  });
  const endListening = resumeAfterSuspend(terminal, readline, {
    beforeSuspend: () => void stdout.write(endPasteMarks),
    afterResume: () => {
      stdout.write(beginPasteMarks);
      editor.showAgain();
    },
  });
  readline.on('close', () => {
    endListening();
    keys.endSearch();
    stdin.off('keypress', onKeypress);
    stdout.write(endPasteMarks);
    editor.closed();
    output.destroy();
  });
  stdout.write(beginPasteMarks);
  return editor;
}

/** Offers nothing if it takes too long. */
async function inTime(work: Promise<SlashCompletion | undefined>): Promise<SlashCompletion | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<SlashCompletion>((resolve) => {
    timer = setTimeout(resolve, completionLimit, { candidates: [], completed: '' });
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A key as Node's readline reports it. */
interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly sequence?: string;
}

/** Enter with Shift, from terminals that report it. */
const shiftEnter: readonly (string | undefined)[] = ['\u001b[13;2u', '\u001b[27;2;13~'];

/** A search in the history, and the line before it. */
interface Search {
  readonly history: HistorySearch;
  readonly before: InputLine;
}

/** The keys of a prompt that Node's readline does not know: they are looked at first. */
class LineKeys {
  readonly #editor: LineEditor;
  #search: Search | undefined;
  /** The last key was Ctrl-X. */
  #isAfterX = false;

  constructor(editor: LineEditor) {
    this.#editor = editor;
  }

  /** Whether a key is taken. Otherwise readline gets it. */
  takes(text: string, key: Key): boolean {
    const { name, ctrl = false, meta = false, sequence } = key;
    if (!this.#editor.isTyping) return false;
    if (this.#search) return this.#takesSearch(this.#search, text, key);
    const isAfterX = this.#isAfterX;
    this.#isAfterX = ctrl && name === 'x';
    if (this.#isAfterX) return true;
    if (isAfterX && ctrl && name === 'e') this.#editor.openEditor();
    else if (ctrl && name === 'r') this.#beginSearch();
    else if (shiftEnter.includes(sequence) || (meta && (name === 'return' || name === 'enter')))
      this.#insert(lineEnd);
    else return this.#takesInside(text);
    return true;
  }

  #insert(text: string): void {
    const { text: line, cursor } = this.#editor.line;
    this.#editor.replace({
      text: line.slice(0, cursor) + text + line.slice(cursor),
      cursor: cursor + text.length,
    });
  }

  /** Node 20 appends what is typed within a line if several keys arrive at once. */
  #takesInside(text: string): boolean {
    const { text: line, cursor } = this.#editor.line;
    if (cursor === line.length || !/^[^\p{Cc}]+$/u.test(text)) return false;
    this.#insert(text);
    return true;
  }

  #beginSearch(): void {
    const search = { history: new HistorySearch(this.#editor.history), before: this.#editor.line };
    this.#search = search;
    this.#showSearch(search);
  }

  #showSearch({ history, before }: Search): void {
    const { found, query, isFailing } = history;
    this.#editor.showPrompt(`${isFailing ? 'nothing older has' : 'search'} "${showLine(query)}": `);
    this.#editor.replace(found === undefined ? before : { text: found, cursor: found.length });
  }

  /** What is found stays in the line, unless the search is cancelled. */
  #takesSearch(search: Search, text: string, { name, ctrl = false }: Key): boolean {
    const { history, before } = search;
    const isCancel = ctrl && (name === 'g' || name === 'c');
    if (ctrl && name === 'r') history.older();
    else if (name === 'backspace') history.erase();
    else if (/^[^\p{Cc}]+$/u.test(text)) history.type(text);
    else {
      this.endSearch();
      if (isCancel) this.#editor.replace(before);
      return isCancel || name === 'escape';
    }
    this.#showSearch(search);
    return true;
  }

  endSearch(): void {
    if (!this.#search) return;
    this.#search = undefined;
    this.#editor.showPrompt(undefined);
  }
}

/** A search in the history that goes on with each key, from newer to older entries. */
class HistorySearch {
  readonly #entries: readonly string[];
  #query = '';
  #at = 0;
  #isFailing = false;

  /** `entries` are newest first. */
  constructor(entries: readonly string[]) {
    this.#entries = entries;
  }

  get query(): string {
    return this.#query;
  }

  /** Nothing older has the words. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** What is found; undefined before anything is typed. */
  get found(): string | undefined {
    return this.#query === '' ? undefined : this.#entries[this.#at];
  }

  type(text: string): void {
    this.#query += text;
    this.#find(this.#at);
  }

  erase(): void {
    this.#query = [...this.#query].slice(0, -1).join('');
    this.#find(0);
  }

  older(): void {
    if (this.#query !== '') this.#find(this.#at + 1);
  }

  /** Small letters find large ones, too. */
  #find(from: number): void {
    const isExact = this.#query !== this.#query.toLowerCase();
    const index = this.#entries.findIndex(
      (entry, position) => position >= from && (isExact ? entry : entry.toLowerCase()).includes(this.#query),
    );
    this.#isFailing = index === -1;
    if (index !== -1) this.#at = index;
  }
}
