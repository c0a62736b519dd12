/** A text that is to be replaced, and the one in its place, both with plain line ends. */
export interface TextPair {
  readonly old: string;
  readonly wanted: string;
}

/** A place in a text, from its beginning to its end, and what comes into it. */
export interface EditMatch {
  readonly start: number;
  readonly end: number;
  readonly wanted: string;
  /** How `old` differs from the text there: the end of a sentence. */
  readonly forgiven?: string;
}

/** The only place, or where the several places begin; undefined if there is none. */
export type PlaceSearch = { readonly place: EditMatch } | { readonly starts: readonly number[] } | undefined;

/** More places than are named. */
const maxPlaces = 6;

/**
 * Finds what a model means by a text that it has copied badly. The first step that finds exactly one place counts, and
 * two places in a step end the search. Nothing is compared by its similarity: each step knows one kind of slip, and
 * only what was found is replaced.
 */
export function findForgiving(text: string, edit: TextPair): PlaceSearch {
  const bare = withoutNumbers(edit);
  const trimmed = [edit, ...bare].flatMap(withoutBlankEnds);
  const steps: readonly (readonly [readonly TextPair[], Matcher, string])[] = [
    [bare, wholeLines, 'without the line numbers'],
    [[edit, ...bare], apartFromLooks, 'apart from blanks at line ends, quotes and dashes'],
    [[edit, ...bare], apartFromIndentation, 'with another indentation, which was kept as it is in the file'],
    [trimmed, exactly, 'without its blank first or last lines'],
    [trimmed, apartFromLooks, 'without its blank first or last lines'],
    [trimmed, apartFromIndentation, 'without its blank first or last lines, with another indentation'],
    [unescaped(edit), exactly, 'with \\n and \\" as line ends and quotes'],
    [unescaped(edit), apartFromIndentation, 'with \\n and \\" as line ends and quotes'],
  ];
  for (const [edits, find, forgiven] of steps)
    for (const each of edits) {
      const places = each.old.trim() === '' ? [] : find(text, each);
      const [place, ...others] = places;
      if (place === undefined) continue;
      return others.length === 0
        ? { place: { ...place, forgiven } }
        : { starts: places.map(({ start }) => start) };
    }
  return undefined;
}

type Matcher = (text: string, edit: TextPair) => readonly EditMatch[];

function exactly(text: string, { old, wanted }: TextPair): readonly EditMatch[] {
  return occurrencesOf(text, old).map((start) => ({ start, end: start + old.length, wanted }));
}

/** What has line numbers begins and ends with a line. */
function wholeLines(text: string, edit: TextPair): readonly EditMatch[] {
  return exactly(text, edit).filter(
    ({ start, end }) =>
      (start === 0 || text[start - 1] === '\n') &&
      (end === text.length || text[end] === '\n' || text[end - 1] === '\n'),
  );
}

function occurrencesOf(text: string, sought: string): readonly number[] {
  const starts: number[] = [];
  for (
    let at = text.indexOf(sought);
    at !== -1 && starts.length < maxPlaces;
    at = text.indexOf(sought, at + 1)
  )
    starts.push(at);
  return starts;
}

/** Hard spaces, curly quotes and dashes as they are typed. No character becomes several. */
function plainLooks(text: string): string {
  return text
    .replace(/[\u00a0\u2002-\u200a\u202f\u3000]/g, ' ')
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-');
}

/** Whatever `old` and `wanted` have in common at their ends stays as it is in the file. */
function apartFromLooks(text: string, { old, wanted }: TextPair): readonly EditMatch[] {
  const { plain, places } = withoutLineEndBlanks(plainLooks(text));
  const sought = withoutLineEndBlanks(plainLooks(old)).plain;
  if (sought === '') return [];
  const { head, tail } = commonEnds(sought, plainLooks(wanted));
  return occurrencesOf(plain, sought).map((at) => {
    const start = places[at + head] ?? text.length;
    const last = at + sought.length - tail;
    const end = last === at + head ? start : (places[last - 1] ?? 0) + 1;
    return { start, end, wanted: wanted.slice(head, wanted.length - tail) };
  });
}

/** A text without blanks at line ends, and where each of its characters was. */
function withoutLineEndBlanks(text: string) {
  const places: number[] = [];
  let [plain, start] = ['', 0];
  for (const line of text.split('\n')) {
    const kept = line.trimEnd();
    const isLast = start + line.length === text.length;
    for (let at = 0; at < kept.length; at += 1) places.push(start + at);
    if (!isLast) places.push(start + line.length);
    plain += isLast ? kept : `${kept}\n`;
    start += line.length + 1;
  }
  return { plain, places };
}

/** How many characters two texts have in common at their beginning and at their end. */
export function commonEnds(one: string, other: string): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(one.length, other.length);
  let head = 0;
  while (head < shorter && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  return { head, tail };
}

/** Lines of `old` that are looked for with another indentation, and how many lines are compared in all. */
const maxLines = 500;
const maxCompared = 20_000_000;

/** The same lines, shifted, or with tabs for blanks, or the other way round: `wanted` is shifted as they are. */
function apartFromIndentation(text: string, { old, wanted }: TextPair): readonly EditMatch[] {
  const hasEnd = old.endsWith('\n');
  const sought = old.slice(0, hasEnd ? -1 : undefined).split('\n');
  const lines = text.split('\n');
  if (sought.length > maxLines || lines.length * sought.length > maxCompared) return [];
  const bodies = lines.map(bodyOf);
  const soughtBodies = sought.map(bodyOf);
  const places: EditMatch[] = [];
  let start = 0;
  for (const [at, line] of lines.entries()) {
    if (places.length >= maxPlaces) break;
    const isSame = soughtBodies.every((body, index) => bodies[at + index] === body);
    const found = isSame ? lines.slice(at, at + sought.length) : [];
    const end = start + found.join('\n').length + (hasEnd ? 1 : 0);
    const replaced = isSame && end <= text.length ? shiftedTo(found, sought, wanted) : undefined;
    if (replaced) places.push({ start: start + replaced.skipped, end, wanted: replaced.wanted });
    start += line.length + 1;
  }
  return places;
}

/** Models often leave out the indentation of the first line alone: then it stays outside of what is replaced. */
function shiftedTo(found: readonly string[], old: readonly string[], wanted: string) {
  const shift = shiftOf(old, found);
  if (shift) return { wanted: shifted(wanted, shift), skipped: 0 };
  const rest = indentationOf(old[0] ?? '') === '' ? shiftOf(old.slice(1), found.slice(1)) : undefined;
  if (!rest) return undefined;
  const [first = '', ...others] = wanted.split('\n');
  const lines = others.length === 0 ? [first] : [first, shifted(others.join('\n'), rest)];
  return { wanted: lines.join('\n'), skipped: indentationOf(found[0] ?? '').length };
}

function bodyOf(line: string): string {
  return plainLooks(line).trim();
}

/** From the indentation of `old` to that of the file. */
type Shift = (indentation: string) => string;

const units = ['\t', '  ', '    ', '   ', '        '];

/** Undefined if the lines are not all shifted alike. */
function shiftOf(old: readonly string[], found: readonly string[]): Shift | undefined {
  const pairs = old.flatMap((line, at) =>
    line.trim() === '' ? [] : [[indentationOf(line), indentationOf(found[at] ?? '')] as const],
  );
  const isRight = (shift: Shift) => pairs.every(([from, to]) => shift(from) === to);
  return candidatesOf(pairs).find(isRight);
}

function candidatesOf(pairs: readonly (readonly [string, string])[]): readonly Shift[] {
  const [first = ['', '']] = pairs;
  const [from, to] = first;
  const shifts: Shift[] = [];
  if (to.endsWith(from)) {
    const more = to.slice(0, to.length - from.length);
    shifts.push((indentation) => more + indentation);
  }
  if (from.endsWith(to)) {
    const less = from.slice(0, from.length - to.length);
    shifts.push((indentation) => (indentation.startsWith(less) ? indentation.slice(less.length) : ''));
  }
  // Without a shift first: four blanks are rather one level than two that are moved.
  const levels = units.flatMap((unit) =>
    units.flatMap((other) => {
      const by = to.length / other.length - from.length / unit.length;
      return unit === other || !Number.isInteger(by) ? [] : [{ unit, other, by }];
    }),
  );
  levels.sort((a, b) => Math.abs(a.by) - Math.abs(b.by));
  for (const { unit, other, by } of levels)
    shifts.push((indentation) => {
      const level = Math.floor(indentation.length / unit.length);
      const isOfUnit = indentation.startsWith(unit.repeat(level));
      const rest = indentation.slice(level * unit.length);
      return isOfUnit ? other.repeat(Math.max(0, level + by)) + rest : indentation;
    });
  return shifts;
}

function indentationOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}

function shifted(text: string, shift: Shift): string {
  return text
    .split('\n')
    .map((line) => (line.trim() === '' ? line : shift(indentationOf(line)) + line.trimStart()))
    .join('\n');
}

/** As tools and editors number lines: `12| text`, `12: text`, `12→text`, or `src/a.ts:12: text` of a search. */
const numberings = [/^\s*(\d+)\s?[|→]/, /^\s*(\d+)\t/, /^\s*(\d+):/, /^[^\s:]+:(\d+):/];

/** The edit without line numbers, with and without the blank behind them; none if the lines are not numbered. */
function withoutNumbers({ old, wanted }: TextPair): readonly TextPair[] {
  const lines = old.split('\n');
  const numbering = numberings.find((form) => isNumbered(lines, form));
  if (numbering === undefined) return [];
  return [' ?', ''].map((blank) => {
    const form = new RegExp(numbering.source + blank);
    const strip = (text: string) => text.replaceAll(/^.*$/gm, (line) => line.replace(form, ''));
    return { old: strip(old), wanted: strip(wanted) };
  });
}

/** Each line has the number that follows on the one before it. */
function isNumbered(lines: readonly string[], form: RegExp): boolean {
  const numbers = lines.map((line) =>
    line.trim() === '' ? undefined : Number(form.exec(line)?.[1] ?? Number.NaN),
  );
  const at = numbers.findIndex((number) => number !== undefined);
  const first = (numbers[at] ?? Number.NaN) - at;
  return numbers.every((number, index) => number === undefined || number === first + index);
}

/** The edit without blank lines at the ends of `old`, and without those that `wanted` has there too. */
function withoutBlankEnds({ old, wanted }: TextPair): readonly TextPair[] {
  const lines = old.split('\n');
  const hasStart = lines.length > 1 && lines[0]?.trim() === '';
  const hasEnd = lines.length > 1 && lines.at(-1)?.trim() === '';
  if (!hasStart && !hasEnd) return [];
  const trim = (text: string) => {
    const all = text.split('\n');
    const first = hasStart ? all.findIndex((line) => line.trim() !== '') : 0;
    const last = hasEnd ? all.findLastIndex((line) => line.trim() !== '') : all.length - 1;
    return first === -1 ? '' : all.slice(first, last + 1).join('\n');
  };
  return [{ old: trim(old), wanted: trim(wanted) }];
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', ''],
]);

/** The edit with what was escaped twice in its JSON. */
function unescaped({ old, wanted }: TextPair): readonly TextPair[] {
  const plain = (text: string) =>
    text.replace(/\\([ntr"'\\])/g, (_, letter: string) => escapes.get(letter) ?? letter);
  return plain(old) === old ? [] : [{ old: plain(old), wanted: plain(wanted) }];
}
