import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { homeFolder } from '../../../protocol/base/platform/folder.ts';
import { HistorySearch } from './historySearch.ts';
import { lineEnd } from './multilineEntry.ts';
import { asksForVi, type Line, type ViAction, ViKeys } from './viKeys.ts';

/** A key as Node's readline reports it. */
export interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly sequence?: string;
}

/** The line that the keys change. */
export interface KeyTarget {
  /** What is typed is a prompt, and no paste. */
  readonly isTyping: boolean;
  readonly line: Line;
  /** Newest first. */
  readonly history: readonly string[];
  replace(line: Line): void;
  /** Undefined shows the usual prompt. */
  showPrompt(prompt: string | undefined): void;
  goTo(entry: 'older' | 'newer'): void;
  openEditor(): void;
  /** Shows whether keys are commands: as a block in place of the usual cursor. */
  showCursor(shape: 'usual' | 'block'): void;
}

/** Enter with Shift, from terminals that report it. */
const shiftEnter: readonly (string | undefined)[] = ['\u001b[13;2u', '\u001b[27;2;13~'];

/** A search in the history, and the line before it. */
interface Search {
  readonly history: HistorySearch;
  readonly before: Line;
}

/** The keys of a prompt that Node's readline does not know: they are looked at first. */
export class LineKeys {
  readonly #target: KeyTarget;
  readonly #vi: ViKeys | undefined;
  #search: Search | undefined;
  /** The cursor is shown so. */
  #isBlock = false;
  /** The last key was Ctrl-X. */
  #isAfterX = false;

  constructor(target: KeyTarget, { isVi }: { readonly isVi: boolean }) {
    this.#target = target;
    this.#vi = isVi ? new ViKeys() : undefined;
  }

  /** Whether a key is taken. Otherwise readline gets it. */
  takes(text: string, key: Key): boolean {
    const { name, ctrl = false, meta = false, sequence } = key;
    if (!this.#target.isTyping) return false;
    if (this.#search) return this.#takesSearch(this.#search, text, key);
    const isAfterX = this.#isAfterX;
    this.#isAfterX = ctrl && name === 'x';
    if (this.#isAfterX) return true;
    if (isAfterX && ctrl && name === 'e') this.#target.openEditor();
    else if (ctrl && name === 'r') this.#beginSearch();
    else if (shiftEnter.includes(sequence) || (meta && (name === 'return' || name === 'enter')))
      this.#insert(lineEnd);
    else return this.#takesVi(text, key) || this.#takesInside(text);
    return true;
  }

  /** A new line begins. */
  begin(): void {
    this.#endSearch();
    this.#vi?.begin();
    this.#showMode();
  }

  #insert(text: string): void {
    const { text: line, cursor } = this.#target.line;
    this.#target.replace({
      text: line.slice(0, cursor) + text + line.slice(cursor),
      cursor: cursor + text.length,
    });
  }

  /** Node 20 appends what is typed within a line if several keys arrive at once. */
  #takesInside(text: string): boolean {
    const { text: line, cursor } = this.#target.line;
    if (cursor === line.length || !/^[^\p{Cc}]+$/u.test(text)) return false;
    this.#insert(text);
    return true;
  }

  #takesVi(text: string, { name, ctrl = false, meta = false, sequence = '' }: Key): boolean {
    const vi = this.#vi;
    if (!vi || ctrl) return false;
    if (name === 'return' || name === 'enter') {
      this.begin();
      return false;
    }
    // Escape and a key right behind it look like the key with Alt.
    const behindEscape = meta && /^\u001b[^\p{Cc}]$/u.test(sequence) ? sequence.slice(1) : undefined;
    if (vi.isInserting && name !== 'escape' && behindEscape === undefined) return false;
    if (name === 'escape' || behindEscape !== undefined) this.#do(vi.escape(this.#target.line));
    const typed = behindEscape ?? (name === 'backspace' ? 'h' : text);
    const isCommand = /^[^\p{Cc}]$/u.test(typed);
    if (isCommand && name !== 'escape') this.#do(vi.press(typed === ' ' ? 'l' : typed, this.#target.line));
    this.#showMode();
    return isCommand || name === 'escape';
  }

  #do(action: ViAction): void {
    if (action.kind === 'line') this.#target.replace(action.line);
    if (action.kind === 'search') this.#beginSearch();
    if (action.kind !== 'history') return;
    const oldest = this.#target.history.at(-1);
    if (action.to !== 'oldest') this.#target.goTo(action.to);
    else if (oldest !== undefined) this.#target.replace({ text: oldest, cursor: 0 });
  }

  #showMode(): void {
    const isBlock = this.#vi?.isInserting === false;
    if (isBlock !== this.#isBlock) this.#target.showCursor(isBlock ? 'block' : 'usual');
    this.#isBlock = isBlock;
  }

  #beginSearch(): void {
    const search = { history: new HistorySearch(this.#target.history), before: this.#target.line };
    this.#search = search;
    this.#showSearch(search);
  }

  #showSearch({ history, before }: Search): void {
    const { found, query, isFailing } = history;
    this.#target.showPrompt(`${isFailing ? 'nothing older has' : 'search'} "${showLine(query)}": `);
    this.#target.replace(found === undefined ? before : { text: found, cursor: found.length });
  }

  /** What is found stays in the line, unless the search is cancelled. */
  #takesSearch(search: Search, text: string, { name, ctrl = false }: Key): boolean {
    const { history, before } = search;
    const isCancel = ctrl && (name === 'g' || name === 'c');
    if (ctrl && name === 'r') history.older();
    else if (name === 'backspace') history.erase();
    else if (/^[^\p{Cc}]+$/u.test(text)) history.type(text);
    else {
      this.#endSearch();
      if (isCancel) this.#target.replace(before);
      if (name === 'return' || name === 'enter') this.begin();
      return isCancel || name === 'escape';
    }
    this.#showSearch(search);
    return true;
  }

  #endSearch(): void {
    if (!this.#search) return;
    this.#search = undefined;
    this.#target.showPrompt(undefined);
  }
}

/** Whether the user's own settings of readline ask for the keys of vi: `INPUTRC`, else `~/.inputrc`. */
export function usesViKeys(env: Readonly<Record<string, string | undefined>>): boolean {
  try {
    return asksForVi(readFileSync(env['INPUTRC'] || join(homeFolder(env), '.inputrc'), 'utf8'));
  } catch {
    return false;
  }
}
