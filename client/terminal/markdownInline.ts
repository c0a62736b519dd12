import type { WordWrap } from './wordWrap.ts';

/** What is open within a line. */
export interface InlineState {
  bold: boolean;
  italic: boolean;
  /** Length of the run of ticks that opened code; 0 is none. */
  code: number;
  /** The style of the whole line, such as a heading's. */
  lineStyle: string;
  /** A marker that the next character decides: a run of `*` or of ticks, a backslash, or a link. */
  held: string;
  previous: string;
}

const reset = '\u001b[0m';
const longestLink = 400;

export function newInline(): InlineState {
  return { bold: false, italic: false, code: 0, lineStyle: '', held: '', previous: ' ' };
}

export function inlineStep(state: InlineState, character: string, wrap: WordWrap): void {
  if (state.held.startsWith('[')) return stepLink(state, character, wrap);
  if (state.held !== '' && state.held[0] === character && character !== '\\') {
    state.held += character;
    return;
  }
  if (state.held !== '') {
    const held = state.held;
    state.held = '';
    if (held === '\\' && /[\\`*_[\]()#+.!<>|~-]/.test(character)) return put(state, character, wrap);
    closeMarker(state, { marker: held, next: character }, wrap);
  }
  const isMarker = state.code > 0 ? character === '`' : '`*\\['.includes(character);
  if (isMarker) state.held = character;
  else put(state, character, wrap);
}

/** At the end of a line what is held is decided, and what is open is closed. */
export function inlineEnd(state: InlineState, wrap: WordWrap): void {
  const held = state.held;
  state.held = '';
  if (held.startsWith('[')) putAll(state, held, wrap);
  else if (held !== '') closeMarker(state, { marker: held, next: ' ' }, wrap);
  if (state.bold || state.italic || state.code > 0 || state.lineStyle !== '') wrap.style(reset);
}

function closeMarker(
  state: InlineState,
  { marker, next }: { marker: string; next: string },
  wrap: WordWrap,
): void {
  if (marker[0] === '`') return tick(state, marker, wrap);
  if (marker[0] !== '*') return putAll(state, marker, wrap);
  const opens = !/\s/.test(next) && !/[\p{L}\p{N}]/u.test(state.previous);
  const closes = !/\s/.test(state.previous);
  const wantsBold = marker.length >= 2;
  const wantsItalic = marker.length % 2 === 1;
  const canTurn = marker.length <= 3 && turns(state.bold, wantsBold) && turns(state.italic, wantsItalic);
  if (!canTurn) return putAll(state, marker, wrap);
  if (wantsBold) state.bold = !state.bold;
  if (wantsItalic) state.italic = !state.italic;
  restyle(state, wrap);

  function turns(isOn: boolean, isWanted: boolean): boolean {
    return !isWanted || (isOn ? closes : opens);
  }
}

function tick(state: InlineState, marker: string, wrap: WordWrap): void {
  if (state.code === 0) state.code = marker.length;
  else if (state.code === marker.length) state.code = 0;
  else return putAll(state, marker, wrap);
  restyle(state, wrap);
}

/** A link is shown as its text and its address, once it is whole. */
function stepLink(state: InlineState, character: string, wrap: WordWrap): void {
  state.held += character;
  const link = /^\[([^[\]]*)\]\(([^)\s]*)\)$/.exec(state.held);
  if (link) {
    const [, text = '', address = ''] = link;
    state.held = '';
    putAll(state, text === address || text === '' ? address : `${text} (${address})`, wrap);
    return;
  }
  const mayBe = /^\[[^[\]]*(\](\([^)\s]*)?)?$/.test(state.held) && state.held.length < longestLink;
  if (mayBe) return;
  const held = state.held;
  state.held = '';
  put(state, '[', wrap);
  for (const one of held.slice(1)) inlineStep(state, one, wrap);
}

function restyle(state: InlineState, wrap: WordWrap): void {
  const styles = [state.bold && '\u001b[1m', state.italic && '\u001b[3m', state.code > 0 && '\u001b[36m'];
  wrap.style(reset + state.lineStyle + styles.filter((style) => style !== false).join(''));
}

function putAll(state: InlineState, text: string, wrap: WordWrap): void {
  for (const character of text) put(state, character, wrap);
}

function put(state: InlineState, character: string, wrap: WordWrap): void {
  state.previous = character;
  wrap.character(character);
}
