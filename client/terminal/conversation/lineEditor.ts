import type { Interface } from 'node:readline';
import { messageOf } from '../../../protocol/base/text.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { MutedOutput } from '../screen/output.ts';
import { entryOfLines, historySize, isOpenEntry, lineEnd, linesOfEntry, textOfEntry } from './history.ts';
import type { SlashCompletion } from './slashCompletion.ts';

/** What the person did at the prompt. */
export type Entry = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'leave' };

/** A line that is edited, and the place of the cursor in it, in UTF-16 units. */
export interface InputLine {
  readonly text: string;
  readonly cursor: number;
}

export interface LineEditorOptions {
  /** The entries that can be recalled, newest first. */
  readonly history?: string[];
  /** What Tab offers for a line up to the cursor. If it is undefined, Tab is a character. */
  readonly complete?: (line: string) => Promise<SlashCompletion | undefined>;
  /** Lets the user change a text in an editor of their own. */
  readonly editText?: (text: string) => Promise<string>;
  /** Called at once with each new entry, because closing the window ends the program without notice. */
  readonly onDidEnter?: (entry: string) => void;
}

/** If the terminal does not mark pasted text, lines that arrive within this many ms of each other count as pasted. */
const pasteWindow = 15;
/** What would control the terminal; tabs and line ends are text. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const continuation = '… ';
/** Switch xterm's bracketed paste on and off: the terminal marks pasted text. */
export const beginPasteMarks = '\u001b[?2004h';
export const endPasteMarks = '\u001b[?2004l';

const howToLeave = 'Ctrl-C again leaves, as Ctrl-D does.\n';

/**
 * A prompt with history. What is typed while nothing is asked stays hidden, and is kept for the next entry.
 * `openLineEditor` passes on what readline reports.
 */
export class LineEditor {
  readonly #readline: Interface;
  readonly #output: MutedOutput;
  readonly #waiting: Entry[] = [];
  readonly #onDidEnter: (entry: string) => void;
  readonly #complete: Required<LineEditorOptions>['complete'];
  readonly #terminal: Terminal;
  readonly #editText: LineEditorOptions['editText'];
  #history: readonly string[];
  /** The list from which readline recalls. */
  #recalled: string[];
  #prompt = '';
  /** The lines of an entry that is not finished. */
  #lines: string[] = [];
  #isPasting = false;
  /** The last key was Ctrl-C at an empty prompt. */
  #isLeaving = false;
  #isQuestion = false;
  #isClosed = false;
  /** Set while it is not known whether the last line ends its entry. */
  #stopTimer: (() => void) | undefined;
  #answer: ((entry: Entry) => void) | undefined;
  #interrupt: () => void = () => undefined;

  /** `history` is the list from which readline recalls. */
  constructor(
    readline: Interface,
    output: MutedOutput,
    {
      terminal,
      history,
      complete = async () => undefined,
      onDidEnter = () => undefined,
      editText,
    }: LineEditorOptions & { readonly terminal: Terminal; readonly history: string[] },
  ) {
    this.#readline = readline;
    this.#output = output;
    this.#onDidEnter = onDidEnter;
    this.#complete = complete;
    this.#editText = editText;
    this.#terminal = terminal;
    this.#history = [...history];
    this.#recalled = history;
  }

  /**
   * The next entry: a line, lines joined by a backslash at their end or by three quotes around them, or lines that
   * were pasted together.
   */
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
    if (this.#stopTimer === undefined) this.#promptAgain();
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  /**
   * A question in the middle of a turn. Anything typed before it, even an unfinished line, is kept for the next entry.
   * The answer does not enter the history. Ctrl-C leaves the question and interrupts; an aborted signal withdraws it.
   * Undefined without an answer.
   */
  async question(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#isClosed) return undefined;
    const restore = this.#setAside();
    // Ctrl-C may have answered it already.
    const withdraw = () => this.#answer && this.#give({ kind: 'leave' });
    signal.addEventListener('abort', withdraw, { once: true });
    this.#isQuestion = true;
    try {
      const entry: Entry = signal.aborted ? { kind: 'leave' } : await this.ask(prompt);
      return entry.kind === 'text' ? entry.text : undefined;
    } finally {
      this.#isQuestion = false;
      signal.removeEventListener('abort', withdraw);
      restore();
    }
  }

  /** Sets aside what was typed unseen, so that it cannot answer a question. Returns a function that restores it. */
  #setAside(): () => void {
    if (this.#stopTimer !== undefined) {
      this.#stopTimer();
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
      this.replace({ text: line, cursor });
    };
  }

  /** What is typed is a prompt, and no paste. */
  get isTyping(): boolean {
    return this.#answer !== undefined && !this.#isQuestion && !this.#isPasting;
  }

  get line(): InputLine {
    return { text: this.#readline.line, cursor: this.#readline.cursor };
  }

  /** Newest first. */
  get history(): readonly string[] {
    return this.#history;
  }

  /** What `write` inserts while several keys arrive at once is put at the end of the line, so it cannot serve. */
  replace({ text, cursor }: InputLine): void {
    Object.assign(this.#readline, { line: text, cursor });
    this.#readline.prompt(true);
  }

  /** Undefined shows the usual prompt. */
  showPrompt(prompt: string | undefined): void {
    if (prompt === undefined) return this.#promptAgain();
    this.#readline.setPrompt(prompt);
    this.#readline.prompt(true);
  }

  /** The lines of the entry so far become one text. */
  openEditor(): void {
    const editText = this.#editText;
    if (!editText) return;
    const text = entryOfLines([...this.#lines, this.#readline.line]).replaceAll(lineEnd, '\n');
    this.standAside(() => editText(text)).then(
      (edited) => {
        this.#lines = [];
        this.#promptAgain();
        const shown = edited.replace(controls, '').replaceAll('\n', lineEnd);
        this.replace({ text: shown, cursor: shown.length });
      },
      (error: unknown) => {
        this.#output.write(`\n${messageOf(error)}\n`);
        this.#promptAgain();
      },
    );
  }

  /** Drops the unfinished entry. */
  #empty(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#lines = [];
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
  }

  /** Puts a text into the line of the next entry, for the user to change. */
  prefill(text: string): void {
    this.#readline.write(text.replaceAll('\n', lineEnd));
  }

  /** Leaves the keyboard and the screen to other work until it ends. */
  async standAside<T>(work: () => Promise<T>): Promise<T> {
    const { stdin, stdout, onInterrupt } = this.#terminal;
    // Ctrl-C belongs to the other work, although the terminal may send it to this program, too.
    const stopListening = onInterrupt(() => undefined);
    const listeners = stdin.listeners('keypress') as ((...key: unknown[]) => void)[];
    for (const listener of listeners) stdin.off('keypress', listener);
    this.#readline.pause();
    stdin.setRawMode?.(false);
    stdout.stream.write(endPasteMarks);
    try {
      return await work();
    } finally {
      stopListening();
      for (const listener of listeners) stdin.on('keypress', listener);
      if (!this.#isClosed) {
        stdout.stream.write(beginPasteMarks);
        stdin.setRawMode?.(true);
        this.#readline.resume();
      }
    }
  }

  /** Called at Ctrl-C while nothing is asked. */
  onInterrupt(take: () => void): void {
    this.#interrupt = take;
  }

  close(): void {
    this.#readline.close();
  }

  /** Removes the single lines that readline adds: an entry is remembered when it is complete. */
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

  /** What is pasted, hidden or an answer to a question is not completed. */
  async complete(line: string): Promise<SlashCompletion | undefined> {
    if (!this.isTyping || this.#lines.length > 0) return undefined;
    return this.#complete(line).catch(() => undefined);
  }

  key(name: string | undefined, isControlC = false): void {
    if (!isControlC) this.#isLeaving = false;
    if (name === 'paste-start') this.#isPasting = true;
    if (name === 'paste-end') this.#isPasting = false;
  }

  endLine(line: string): void {
    this.#lines.push(...linesOfEntry(line));
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (this.#isPasting) this.#promptAgain();
    else this.#stopTimer = this.#terminal.after(pasteWindow, () => this.#endEntry());
  }

  controlC(): void {
    if (!this.#answer) return this.#interrupt();
    if (this.#isQuestion) {
      this.#output.write('\n');
      this.#give({ kind: 'leave' });
      return this.#interrupt();
    }
    if (this.#readline.line === '' && this.#lines.length === 0) return this.#leave();
    const isContinued = this.#lines.length > 0;
    this.#empty();
    if (isContinued) this.#output.write('\n');
    this.#promptAgain();
  }

  /** One Ctrl-C may have been meant for the answer that has just ended. */
  #leave(): void {
    if (this.#isLeaving) return this.#give({ kind: 'leave' });
    this.#isLeaving = true;
    this.#output.write(`\n${howToLeave}`);
    this.#promptAgain();
  }

  /** Draws the prompt again after something else was written on the screen. */
  showAgain(): void {
    if (this.#answer && this.#stopTimer === undefined) this.#readline.prompt(true);
  }

  closed(): void {
    this.#isClosed = true;
    this.#stopTimer?.();
    this.#give({ kind: 'leave' });
  }

  /** The entry is not finished if it says so, or if the rest of a paste is still in the line. */
  #endEntry(): void {
    this.#stopTimer = undefined;
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

  /** Shows hidden lines as if they had been typed at the prompt. The last one is left to the editor. */
  #show(lines: readonly string[]): void {
    for (const [index, line] of lines.slice(0, -1).entries())
      this.#output.write(`${index === 0 ? this.#prompt : continuation}${line}\n`);
  }
}
