import { createInterface, type Interface } from 'node:readline';
import { goOnAfterStops } from '../cli/stops.ts';
import type { Surroundings } from '../cli/streams.ts';
import { entryOfLines, isOpenEntry, linesOfEntry, textOfEntry } from './entryLines.ts';
import { historySize } from './history.ts';
import { MutedOutput } from './mutedOutput.ts';

/** What a person did at the prompt. */
export type Entry = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'leave' };

/** A prompt with history. While it is not asking, what is typed is kept for the next prompt, unseen until then. */
export interface LineEditor {
  /**
   * The next prompt: a line, lines joined by a backslash at their end or by three quotes around them, or lines that
   * were pasted together.
   */
  ask(prompt: string): Promise<Entry>;
  /**
   * A question in the middle of a turn. What was typed before it is kept for the next prompt, also half a line, and the
   * answer is no part of the history. Ctrl-C leaves it and interrupts; an aborted signal takes it back.
   */
  question(prompt: string, signal: AbortSignal): Promise<Entry>;
  /** Called at Ctrl-C while nothing is asked. */
  onInterrupt(take: () => void): void;
  close(): void;
}

export interface LineEditorOptions {
  /** The entries that can be recalled, newest first. */
  readonly history?: string[];
  /** Called at once with each new entry: a window that is closed ends the program without a word. */
  readonly onDidEnter?: (entry: string) => void;
}

/** Where the terminal does not mark what is pasted, lines that arrive within this many ms of each other were. */
const pasteWindow = 15;
const continuation = '… ';
/** The terminal marks what is pasted from here on, and no longer (xterm's bracketed paste). */
const markPastes = '\u001b[?2004h';
const markPastesNoLonger = '\u001b[?2004l';

export function createLineEditor(
  surroundings: Surroundings,
  { history = [], onDidEnter = () => undefined }: LineEditorOptions = {},
): LineEditor {
  const { stdin, stdout } = surroundings;
  const output = new MutedOutput(stdout);
  const readline = createInterface({
    input: stdin,
    output,
    terminal: true,
    history,
    historySize,
    removeHistoryDuplicates: true,
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  const editor = new Editor(readline, output, { history, onDidEnter });
  const onKeypress = (_: unknown, key: { readonly name?: string } | undefined) => editor.key(key?.name);
  stdin.on('keypress', onKeypress);
  readline.on('history', (lines: string[]) => editor.noteHistory(lines));
  readline.on('line', (line) => editor.line(line));
  readline.on('SIGINT', () => editor.controlC());
  const endStops = goOnAfterStops(surroundings, readline, {
    beforeStop: () => void stdout.write(markPastesNoLonger),
    afterStop: () => {
      stdout.write(markPastes);
      editor.showAgain();
    },
  });
  readline.on('close', () => {
    endStops();
    stdin.off('keypress', onKeypress);
    stdout.write(markPastesNoLonger);
    editor.closed();
  });
  stdout.write(markPastes);
  return editor;
}

class Editor implements LineEditor {
  readonly #readline: Interface;
  readonly #output: MutedOutput;
  readonly #waiting: Entry[] = [];
  readonly #onDidEnter: (entry: string) => void;
  #history: readonly string[];
  /** What readline recalls from. */
  #recalled: string[];
  #prompt = '';
  /** The lines of an entry that goes on. */
  #lines: string[] = [];
  #isPasting = false;
  #isQuestion = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #answer: ((entry: Entry) => void) | undefined;
  #interrupt: () => void = () => undefined;

  constructor(
    readline: Interface,
    output: MutedOutput,
    { history, onDidEnter }: Required<LineEditorOptions>,
  ) {
    this.#readline = readline;
    this.#output = output;
    this.#onDidEnter = onDidEnter;
    this.#history = [...history];
    this.#recalled = history;
  }

  ask(prompt: string): Promise<Entry> {
    this.#prompt = prompt;
    this.#output.isMuted = false;
    const next = this.#waiting.shift();
    if (next) {
      if (next.kind === 'text') this.#show([...next.text.split('\n'), '']);
      this.#output.isMuted = true;
      return Promise.resolve(next);
    }
    this.#show([...this.#lines, '']);
    // Whether a line that has just come ends its entry is not known yet.
    if (this.#timer === undefined) this.#promptAgain();
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  async question(prompt: string, signal: AbortSignal): Promise<Entry> {
    if (this.#isClosed) return { kind: 'leave' };
    const putBack = this.#setAside();
    const takeBack = () => this.#give({ kind: 'leave' });
    signal.addEventListener('abort', takeBack, { once: true });
    this.#isQuestion = true;
    try {
      return signal.aborted ? { kind: 'leave' } : await this.ask(prompt);
    } finally {
      this.#isQuestion = false;
      signal.removeEventListener('abort', takeBack);
      putBack();
    }
  }

  /** What was typed unseen answers no question. */
  #setAside(): () => void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#endEntry();
    }
    const entries = this.#waiting.splice(0);
    const lines = this.#lines;
    const { line, cursor } = this.#readline;
    this.#empty();
    return () => {
      this.#waiting.unshift(...entries);
      if (this.#isClosed) return;
      this.#empty();
      this.#lines = lines;
      // The part behind the cursor first, so that the cursor stands where it stood.
      this.#readline.write(line.slice(cursor));
      this.#readline.write(null, { ctrl: true, name: 'a' });
      this.#readline.write(line.slice(0, cursor));
    };
  }

  /** Forgets the lines of an entry that goes on. */
  #empty(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lines = [];
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
  }

  onInterrupt(take: () => void): void {
    this.#interrupt = take;
  }

  close(): void {
    this.#readline.close();
  }

  /** The lines that readline adds are taken out again: an entry is remembered once it is whole. */
  noteHistory(lines: string[]): void {
    this.#recalled = lines;
    lines.splice(0, lines.length, ...this.#history);
  }

  #remember(lines: readonly string[]): void {
    const entry = entryOfLines(lines);
    if (this.#isQuestion || entry.trim() === '') return;
    this.#history = [entry, ...this.#history.filter((other) => other !== entry)].slice(0, historySize);
    this.#recalled.splice(0, this.#recalled.length, ...this.#history);
    this.#onDidEnter(entry);
  }

  key(name: string | undefined): void {
    if (name === 'paste-start') this.#isPasting = true;
    if (name === 'paste-end') this.#isPasting = false;
  }

  line(line: string): void {
    this.#lines.push(...linesOfEntry(line));
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isPasting) this.#promptAgain();
    else this.#timer = setTimeout(() => this.#endEntry(), pasteWindow);
  }

  controlC(): void {
    if (!this.#answer) return this.#interrupt();
    if (this.#isQuestion) {
      this.#output.write('\n');
      this.#give({ kind: 'leave' });
      return this.#interrupt();
    }
    if (this.#readline.line === '' && this.#lines.length === 0) return this.#give({ kind: 'leave' });
    const isContinued = this.#lines.length > 0;
    this.#empty();
    if (isContinued) this.#output.write('\n');
    this.#promptAgain();
  }

  /** After others have written on the screen. */
  showAgain(): void {
    if (this.#answer && this.#timer === undefined) this.#readline.prompt(true);
  }

  closed(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#give({ kind: 'leave' });
  }

  /** The entry goes on where it says so, or where the rest of a paste stands in the line. */
  #endEntry(): void {
    this.#timer = undefined;
    const lines = this.#lines;
    const isOpen = !this.#isQuestion && isOpenEntry(lines);
    if (isOpen || this.#readline.line !== '') return this.#promptAgain();
    this.#lines = [];
    this.#remember(lines);
    this.#give({ kind: 'text', text: textOfEntry(lines) });
  }

  #give(entry: Entry): void {
    this.#output.isMuted = true;
    if (this.#answer) this.#answer(entry);
    else this.#waiting.push(entry);
    this.#answer = undefined;
  }

  #promptAgain(): void {
    this.#readline.setPrompt(this.#lines.length === 0 ? this.#prompt : continuation);
    this.#readline.prompt(true);
  }

  /** Lines that were typed unseen, as if they had been typed at the prompt; the last is left to the editor. */
  #show(lines: readonly string[]): void {
    for (const [index, line] of lines.slice(0, -1).entries())
      this.#output.write(`${index === 0 ? this.#prompt : continuation}${line}\n`);
  }
}
