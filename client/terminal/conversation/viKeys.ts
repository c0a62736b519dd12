/** A line that is edited, and the place of the cursor in it, in UTF-16 units. */
export interface Line {
  readonly text: string;
  readonly cursor: number;
}

/** What a key of vi does: nothing more than its mode, another line, a step in the history, or a search in it. */
export type ViAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'line'; readonly line: Line }
  | { readonly kind: 'history'; readonly to: 'older' | 'newer' | 'oldest' }
  | { readonly kind: 'search' };

const none: ViAction = { kind: 'none' };

/** The most that a count may say. */
const maxCount = 100;
/** How many changes can be taken back. */
const maxUndo = 100;

/**
 * The keys of vi in one line: a small part of them. In insert mode all keys but Escape are those of any line. A command
 * is typed key by key: a count, an operator, another count, a motion.
 */
export class ViKeys {
  #isInserting = true;
  /** The keys of a command that is not complete. */
  #typed = '';
  #register = '';
  #undo: Line[] = [];
  /** The command that "." repeats, with what was typed after it. */
  #change: { readonly command: Command; readonly inserted: string } | undefined;
  /** Where typing began after a command. */
  #inserting: { readonly command: Command; readonly line: Line } | undefined;

  get isInserting(): boolean {
    return this.#isInserting;
  }

  /** A new line begins in insert mode. */
  begin(): void {
    this.#isInserting = true;
    this.#typed = '';
    this.#undo = [];
    this.#inserting = undefined;
  }

  /** Escape, which ends typing, or drops a command that is not complete. */
  escape(line: Line): ViAction {
    this.#typed = '';
    if (!this.#isInserting) return none;
    this.#isInserting = false;
    if (this.#inserting) {
      const { command, line: before } = this.#inserting;
      this.#change = { command, inserted: insertedBetween(before, line) };
      this.#inserting = undefined;
    }
    return toLine(line.text, previous(line.text, line.cursor));
  }

  /** A key of normal mode. */
  press(key: string, line: Line): ViAction {
    this.#typed += key;
    const command = parseCommand(this.#typed);
    if (command === 'begun') return none;
    this.#typed = '';
    return command === undefined ? none : this.#run(command, line);
  }

  #run(command: Command, line: Line): ViAction {
    const { name, count } = command;
    if (name === 'k') return { kind: 'history', to: 'older' };
    if (name === 'j') return { kind: 'history', to: 'newer' };
    if (name === 'G') return { kind: 'history', to: 'oldest' };
    if (name === '/') return { kind: 'search' };
    if (name === 'u') return this.#takeBack();
    if (name === '.') return this.#repeat(line);
    const moved = motions[name]?.(line, count);
    if (moved) return toLine(line.text, moved.cursor);
    if (name === 'y') {
      const [from, to] = rangeOf(command, line);
      this.#register = line.text.slice(from, to);
      return toLine(line.text, command.motion === name ? line.cursor : from);
    }
    return this.#edit(command, line);
  }

  #edit(command: Command, line: Line): ViAction {
    const { name } = command;
    this.#undo = [...this.#undo, line].slice(-maxUndo);
    const edited = this.#edited(command, line);
    if ('iIaAcCsS'.includes(name)) {
      this.#isInserting = true;
      this.#inserting = { command, line: edited };
      return { kind: 'line', line: edited };
    }
    this.#change = { command, inserted: '' };
    return toLine(edited.text, edited.cursor);
  }

  #edited(command: Command, { text, cursor }: Line): Line {
    const { name, count, argument = '' } = command;
    switch (name) {
      case 'i':
        return { text, cursor };
      case 'I':
        return { text, cursor: firstWord(text) };
      case 'a':
        return { text, cursor: Math.min(text.length, next(text, cursor)) };
      case 'A':
        return { text, cursor: text.length };
      case 'p':
      case 'P': {
        const at = name === 'P' || text === '' ? cursor : next(text, cursor);
        const put = this.#register.repeat(count);
        const changed = text.slice(0, at) + put + text.slice(at);
        return { text: changed, cursor: put === '' ? cursor : previous(changed, at + put.length) };
      }
      case 'r':
      case '~': {
        const end = steps(count, cursor, (at) => next(text, at));
        const old = text.slice(cursor, end);
        const changed = name === 'r' ? argument.repeat([...old].length) : swapCase(old);
        const line = text.slice(0, cursor) + changed + text.slice(end);
        const after = cursor + changed.length;
        return { text: line, cursor: name === '~' || changed === '' ? after : previous(line, after) };
      }
      default: {
        const [from, to] = rangeOf(command, { text, cursor });
        this.#register = text.slice(from, to);
        return { text: text.slice(0, from) + text.slice(to), cursor: from };
      }
    }
  }

  #takeBack(): ViAction {
    const line = this.#undo.pop();
    return line ? toLine(line.text, line.cursor) : none;
  }

  #repeat(line: Line): ViAction {
    if (!this.#change) return none;
    const { command, inserted } = this.#change;
    this.#undo = [...this.#undo, line].slice(-maxUndo);
    const { text, cursor } = this.#edited(command, line);
    const typed = text.slice(0, cursor) + inserted + text.slice(cursor);
    return toLine(typed, inserted === '' ? cursor : previous(typed, cursor + inserted.length));
  }
}

interface Command {
  readonly name: string;
  readonly count: number;
  /** What an operator works on: a motion, or the operator again for the whole line. */
  readonly motion?: string;
  /** The character that "r" puts in. */
  readonly argument?: string;
}

/** Undefined if these keys are no command; `begun` if more keys belong to it. */
function parseCommand(typed: string): Command | 'begun' | undefined {
  const [, first = '', name = '', rest = ''] = /^([1-9]\d*)?(.?)(.*)$/su.exec(typed) ?? [];
  const count = Math.min(maxCount, Number(first || 1));
  if (name === '') return 'begun';
  const short = shorthands[name];
  if (short) return { name: short[0], count, motion: short[1] };
  if (name === 'r') return rest === '' ? 'begun' : { name, count, argument: rest };
  if (!'dcy'.includes(name)) return commands.includes(name) ? { name, count } : undefined;
  const [, second = '', motion = ''] = /^([1-9]\d*)?(.?)$/su.exec(rest) ?? [];
  if (motion === '') return 'begun';
  if (motion !== name && !(motion in motions)) return undefined;
  return { name, count: Math.min(maxCount, count * Number(second || 1)), motion };
}

const shorthands: Readonly<Record<string, readonly [name: string, motion: string]>> = {
  x: ['d', 'l'],
  X: ['d', 'h'],
  s: ['c', 'l'],
  S: ['c', 'c'],
  D: ['d', '$'],
  C: ['c', '$'],
  Y: ['y', 'y'],
};
const commands = 'hl0$^wbeWBEiIaApP~u.kjG/';

interface Moved {
  readonly cursor: number;
  /** An operator takes the character at the cursor along. */
  readonly isInclusive?: true;
}

type Motion = (line: Line, count: number) => Moved;

const motions: Readonly<Record<string, Motion>> = {
  h: ({ text, cursor }, count) => ({ cursor: steps(count, cursor, (at) => previous(text, at)) }),
  l: ({ text, cursor }, count) => ({ cursor: steps(count, cursor, (at) => next(text, at)) }),
  0: () => ({ cursor: 0 }),
  '^': ({ text }) => ({ cursor: firstWord(text) }),
  $: ({ text }) => ({ cursor: text.length }),
  w: ({ text, cursor }, count) => ({ cursor: steps(count, cursor, (at) => wordStart(text, at, classOf)) }),
  W: ({ text, cursor }, count) => ({ cursor: steps(count, cursor, (at) => wordStart(text, at, isBlank)) }),
  b: ({ text, cursor }, count) => ({ cursor: steps(count, cursor, (at) => wordBefore(text, at, classOf)) }),
  B: ({ text, cursor }, count) => ({ cursor: steps(count, cursor, (at) => wordBefore(text, at, isBlank)) }),
  e: ({ text, cursor }, count) => ({
    cursor: steps(count, cursor, (at) => wordEnd(text, at, classOf)),
    isInclusive: true,
  }),
  E: ({ text, cursor }, count) => ({
    cursor: steps(count, cursor, (at) => wordEnd(text, at, isBlank)),
    isInclusive: true,
  }),
};

/** What an operator works on. As in vi, `cw` on a word changes to its end, and leaves the blanks behind it. */
function rangeOf({ name, count, motion = '' }: Command, line: Line): readonly [from: number, to: number] {
  const { text, cursor } = line;
  if (motion === name) return [0, text.length];
  const isOnWord = /\S/.test(text[cursor] ?? '');
  const moves = name === 'c' && isOnWord && /^[wW]$/.test(motion) ? (motion === 'w' ? 'e' : 'E') : motion;
  const moved = motions[moves]?.({ text, cursor: moves === motion ? cursor : cursor - 1 }, count);
  if (!moved) return [cursor, cursor];
  const end = moved.isInclusive ? next(text, moved.cursor) : moved.cursor;
  return [Math.min(cursor, end), Math.max(cursor, end)];
}

/** In normal mode the cursor is on a character. */
function toLine(text: string, cursor: number): ViAction {
  const last = previous(text, text.length);
  return { kind: 'line', line: { text, cursor: Math.max(0, Math.min(cursor, last)) } };
}

function steps(count: number, from: number, step: (at: number) => number): number {
  let at = from;
  for (let done = 0; done < count; done++) {
    const further = step(at);
    if (further === at) break;
    at = further;
  }
  return at;
}

/** No character is cut in half. */
function next(text: string, at: number): number {
  return Math.min(text.length, at + characterAt(text, at).length);
}

function previous(text: string, at: number): number {
  return Math.max(0, at - characterAt(text, at - 2).length);
}

/** A blank outside of the text. */
function characterAt(text: string, index: number): string {
  return String.fromCodePoint(text.codePointAt(index) ?? 32);
}

type Classify = (character: string) => number;

/** Blanks, letters and digits, and other signs: a word has only one of them. */
const classOf: Classify = (character) =>
  isBlank(character) === 0 ? 0 : /[\p{L}\p{N}\p{M}_]/u.test(character) ? 1 : 2;
const isBlank: Classify = (character) => (/\s|\u2424/.test(character) ? 0 : 1);

function wordStart(text: string, from: number, classify: Classify): number {
  const here = classify(characterAt(text, from));
  let index = from;
  while (here !== 0 && classify(characterAt(text, index)) === here) index = next(text, index);
  while (index < text.length && classify(characterAt(text, index)) === 0) index = next(text, index);
  return index;
}

function wordBefore(text: string, from: number, classify: Classify): number {
  let index = from;
  const before = () => classify(characterAt(text, previous(text, index)));
  while (index > 0 && before() === 0) index = previous(text, index);
  const word = before();
  while (index > 0 && before() === word) index = previous(text, index);
  return index;
}

function wordEnd(text: string, from: number, classify: Classify): number {
  let index = from < 0 ? 0 : next(text, from);
  while (index < text.length && classify(characterAt(text, index)) === 0) index = next(text, index);
  const word = classify(characterAt(text, index));
  while (word !== 0 && classify(characterAt(text, next(text, index))) === word) index = next(text, index);
  return Math.min(index, previous(text, text.length));
}

function firstWord(text: string): number {
  return text.length - text.trimStart().length;
}

function swapCase(text: string): string {
  return [...text].map((one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase())).join('');
}

/** What was typed at the cursor of the line before; nothing if more than that was changed. */
function insertedBetween(before: Line, after: Line): string {
  const head = before.text.slice(0, before.cursor);
  const tail = before.text.slice(before.cursor);
  const rest = after.text.slice(head.length);
  const isInsertion = after.text.startsWith(head) && rest.endsWith(tail);
  return isInsertion ? rest.slice(0, rest.length - tail.length) : '';
}

/** Whether a file of readline's settings asks for the keys of vi. What stands in a condition does not count. */
export function asksForVi(inputrc: string): boolean {
  let depth = 0;
  let mode = 'emacs';
  for (const line of inputrc.split('\n').map((one) => one.trim())) {
    if (/^\$if\b/.test(line)) depth++;
    else if (/^\$endif\b/.test(line)) depth--;
    else if (depth === 0) mode = /^set\s+editing-mode\s+(vi|emacs)\b/i.exec(line)?.[1]?.toLowerCase() ?? mode;
  }
  return mode === 'vi';
}
