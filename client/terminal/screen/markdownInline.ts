import { showLine } from '../../../protocol/base/text.ts';
import { isIdeograph } from './columns.ts';
import type { WordWrap } from './wordWrap.ts';

/** What is open in a line. */
export interface InlineState {
  bold: boolean;
  italic: boolean;
  struck: boolean;
  /** The length of the run of backticks that opened code; 0 if no code is open. */
  code: number;
  /** The style of the whole line, such as a heading's. */
  lineStyle: string;
  /** A marker that the next character decides: a run of `*`, `~` or backticks, or a backslash. */
  held: string;
  link: Link | undefined;
  /** As much of an entity such as `&lt;` as has arrived. */
  entity: string;
  /** What closes the formula that is open: `\)` or `\]`. In it, everything is shown as it was written. */
  formulaEnd: string;
  previous: string;
}

/** As much of `[text](address)` as has arrived. */
interface Link {
  readonly part: 'text' | 'between' | 'address';
  readonly text: string;
  readonly address: string;
}

const reset = '\u001b[0m';
/** Longer links and runs are shown as they were written, so that no more than this is held. */
const maxLinkLength = 400;
const maxRunLength = 50;
const escapable = /[\\`*_#+.!<>|~-]/;
/** How LaTeX begins a formula, and how it ends it. */
const formulas: Readonly<Record<string, string>> = { '(': '\\)', '[': '\\]' };
const maxEntityLength = 10;
const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&apos;': "'",
  '&nbsp;': '\u00a0',
};
/** Before these characters a star opens nothing: it belongs to a glob or a product, or ends a clause. */
const neverEmphasised = /[\s*/.,;:=)\]}|<>]/;

export function newInline(lineStyle = ''): InlineState {
  return {
    bold: false,
    italic: false,
    struck: false,
    code: 0,
    lineStyle,
    held: '',
    link: undefined,
    entity: '',
    formulaEnd: '',
    previous: ' ',
  };
}

export function inlineStep(state: InlineState, character: string, wrap: WordWrap): void {
  if (state.link) return stepLink(state, { link: state.link, character }, wrap);
  if (state.formulaEnd !== '') return stepFormula(state, character, wrap);
  if (state.entity !== '') return stepEntity(state, character, wrap);
  if (state.held !== '' && state.held[0] === character && character !== '\\') {
    if (state.held.length >= maxRunLength) resolveLongRun(state, wrap);
    state.held += character;
    return;
  }
  if (state.held === '\\' && escapable.test(character)) {
    state.held = '';
    return put(state, character, wrap);
  }
  const formulaEnd = state.held === '\\' ? formulas[character] : undefined;
  resolveHeld(state, character, wrap);
  if (formulaEnd !== undefined) {
    state.formulaEnd = formulaEnd;
    return put(state, character, wrap);
  }
  if (character === '&' && state.code === 0) {
    state.entity = character;
    return;
  }
  const isMarker = state.code > 0 ? character === '`' : '`*~\\['.includes(character);
  if (!isMarker) put(state, character, wrap);
  else if (character === '[') state.link = { part: 'text', text: '', address: '' };
  else state.held = character;
}

/** At the end of a line, decides what is held and closes what is open. */
export function inlineEnd(state: InlineState, wrap: WordWrap): void {
  if (state.link) giveUpLink(state, state.link, wrap);
  giveUpEntity(state, wrap);
  resolveHeld(state, ' ', wrap);
  if (state.bold || state.italic || state.struck || state.code > 0 || state.lineStyle !== '')
    wrap.style(reset);
}

function stepFormula(state: InlineState, character: string, wrap: WordWrap): void {
  if (state.previous + character === state.formulaEnd) state.formulaEnd = '';
  put(state, character, wrap);
}

/** An entity is shown as the character that it stands for, once it is complete. Others are text. */
function stepEntity(state: InlineState, character: string, wrap: WordWrap): void {
  const entity = state.entity + character;
  if (character === ';') {
    state.entity = '';
    return putAll(state, entities[entity] ?? numericEntity(entity) ?? entity, wrap);
  }
  if (/[A-Za-z0-9#]/.test(character) && entity.length < maxEntityLength) {
    state.entity = entity;
    return;
  }
  giveUpEntity(state, wrap);
  inlineStep(state, character, wrap);
}

function giveUpEntity(state: InlineState, wrap: WordWrap): void {
  const { entity } = state;
  state.entity = '';
  putAll(state, entity, wrap);
}

/** Such as `&#39;`. Control characters, and what is no character, stay as they were written. */
function numericEntity(entity: string): string | undefined {
  const [, hex, decimal] = /^&#(?:[xX]([0-9a-fA-F]{1,6})|(\d{1,7}));$/.exec(entity) ?? [];
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  if (!(code <= 0x10ffff)) return undefined;
  const character = String.fromCodePoint(code);
  return showLine(character) === character && !/\p{Cs}/u.test(character) ? character : undefined;
}

/** A run of this length is not a marker. */
function resolveLongRun(state: InlineState, wrap: WordWrap): void {
  putAll(state, state.held, wrap);
  state.held = '';
}

/** Decides the held marker by the character after it. */
function resolveHeld(state: InlineState, next: string, wrap: WordWrap): void {
  const marker = state.held;
  state.held = '';
  if (marker === '') return;
  if (marker[0] === '`') return tick(state, marker, wrap);
  const isTurned = marker[0] === '~' ? turnStruck(state, marker, next) : turnEmphasis(state, marker, next);
  if (!isTurned) return putAll(state, marker, wrap);
  restyle(state, wrap);
}

/** Whether a run of stars opens or closes emphasis. Otherwise it is text. */
function turnEmphasis(state: InlineState, marker: string, next: string): boolean {
  if (marker[0] !== '*' || marker.length > 3) return false;
  const isInWord = /[\p{L}\p{N}]/u.test(state.previous) && !isIdeograph(state.previous);
  const opens = !neverEmphasised.test(next) && !isInWord;
  const closes = !/\s/.test(state.previous);
  const wantsBold = marker.length >= 2;
  const wantsItalic = marker.length % 2 === 1;
  if (wantsBold && !(state.bold ? closes : opens)) return false;
  if (wantsItalic && !(state.italic ? closes : opens)) return false;
  if (wantsBold) state.bold = !state.bold;
  if (wantsItalic) state.italic = !state.italic;
  return true;
}

/** Whether two tildes open or close struck text. */
function turnStruck(state: InlineState, marker: string, next: string): boolean {
  if (marker !== '~~') return false;
  if (state.struck ? /\s/.test(state.previous) : /\s/.test(next)) return false;
  state.struck = !state.struck;
  return true;
}

function tick(state: InlineState, marker: string, wrap: WordWrap): void {
  if (state.code === 0) state.code = marker.length;
  else if (state.code === marker.length) state.code = 0;
  else return putAll(state, marker, wrap);
  restyle(state, wrap);
}

/** A link is shown as its text and its address when it is complete. */
function stepLink(
  state: InlineState,
  { link, character }: { link: Link; character: string },
  wrap: WordWrap,
): void {
  const { part, text, address } = link;
  if (text.length + address.length >= maxLinkLength) {
    giveUpLink(state, link, wrap);
    return inlineStep(state, character, wrap);
  }
  if (part === 'text' && character === ']') state.link = { ...link, part: 'between' };
  else if (part === 'text' && character !== '[') state.link = { ...link, text: text + character };
  else if (part === 'between' && character === '(') state.link = { ...link, part: 'address' };
  else if (part === 'address' && character === ')') showLink(state, link, wrap);
  else if (part === 'address' && !/[\s[]/.test(character))
    state.link = { ...link, address: address + character };
  else {
    giveUpLink(state, link, wrap);
    inlineStep(state, character, wrap);
  }
}

function showLink(state: InlineState, { text, address }: Link, wrap: WordWrap): void {
  state.link = undefined;
  if (text === '' || text === address) return putAll(state, address, wrap);
  for (const character of `${text} `) inlineStep(state, character, wrap);
  putAll(state, `(${address})`, wrap);
}

/** It is not a link: what was held is text. That text has no other opening bracket, so this happens once. */
function giveUpLink(state: InlineState, { part, text, address }: Link, wrap: WordWrap): void {
  state.link = undefined;
  put(state, '[', wrap);
  const rest = text + (part === 'text' ? '' : ']') + (part === 'address' ? `(${address}` : '');
  for (const character of rest) inlineStep(state, character, wrap);
}

function restyle(state: InlineState, wrap: WordWrap): void {
  const styles = [
    state.bold && '\u001b[1m',
    state.italic && '\u001b[3m',
    state.struck && '\u001b[9m',
    state.code > 0 && '\u001b[36m',
  ];
  wrap.style(reset + state.lineStyle + styles.filter((style) => style !== false).join(''));
}

function putAll(state: InlineState, text: string, wrap: WordWrap): void {
  for (const character of text) put(state, character, wrap);
}

function put(state: InlineState, character: string, wrap: WordWrap): void {
  state.previous = character;
  wrap.character(character);
}
