/** A text that is to be replaced, and the one in its place. */
export interface TextEdit {
  readonly old: string;
  readonly wanted: string;
}

/** A place in a text, from its beginning to its end, and what comes into it. */
export interface EditPlace {
  readonly start: number;
  readonly end: number;
  readonly wanted: string;
  /** How `old` differs from the text there: the end of a sentence. */
  readonly forgiven?: string;
}

/**
 * Finds what a model means by a text that it may have copied badly: the places of the first step that finds any, at
 * most so many. Nothing is compared by its similarity: each step knows one kind of slip, and only what was found is
 * replaced.
 */
export function findPlaces(text: string, edit: TextEdit, most: number): readonly EditPlace[] {
  const asGiven = exactly(text, edit, most);
  if (asGiven.length > 0) return asGiven;
  const bare = withoutNumbers(edit);
  const both = [edit, ...bare];
  const trimmed = both.flatMap(withoutBlankEnds);
  const steps: readonly (readonly [readonly TextEdit[], Matcher, string])[] = [
    [bare, wholeLines, 'without the line numbers'],
    [both, apartFromLooks, 'apart from blanks at line ends, quotes and dashes'],
    [both, apartFromIndentation, 'with another indentation, which was kept as it is in the file'],
    [trimmed, exactly, 'without its blank first or last lines'],
    [trimmed, apartFromLooks, 'without its blank first or last lines'],
    [trimmed, apartFromIndentation, 'without its blank first or last lines, with another indentation'],
    [unescaped(edit), exactly, 'with \\n and \\" as line ends and quotes'],
    [unescaped(edit), apartFromIndentation, 'with \\n and \\" as line ends and quotes'],
  ];
  for (const [edits, find, forgiven] of steps)
    for (const each of edits) {
      const places = each.old.trim() === '' ? [] : find(text, each, most);
      if (places.length > 0) return places.map((place) => ({ ...place, forgiven }));
    }
  return [];
}

type Matcher = (text: string, edit: TextEdit, most: number) => readonly EditPlace[];

/** Also where a text overlaps itself. */
function exactly(text: string, { old, wanted }: TextEdit, most: number): readonly EditPlace[] {
  const places: EditPlace[] = [];
  for (let at = text.indexOf(old); at !== -1 && places.length < most; at = text.indexOf(old, at + 1))
    places.push({ start: at, end: at + old.length, wanted });
  return places;
}

/** What has line numbers begins and ends with a line. */
function wholeLines(text: string, edit: TextEdit, most: number): readonly EditPlace[] {
  return exactly(text, edit, most).filter(
    ({ start, end }) =>
      (start === 0 || text[start - 1] === '\n') &&
      (end === text.length || text[end] === '\n' || text[end - 1] === '\n'),
  );
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
function apartFromLooks(text: string, { old, wanted }: TextEdit, most: number): readonly EditPlace[] {
  const [lines, plain, sought] = [text.split('\n'), withoutLooks(text), withoutLooks(old)];
  if (sought === '') return [];
  /** Where a character of the plain text is in the text. */
  const placeOf = (at: number) => {
    if (at === plain.length) return text.length;
    const before = plain.slice(0, at + 1).split('\n');
    return [...lines.slice(0, before.length - 1), before.at(-1)].join('\n').length - 1;
  };
  const { head, tail } = commonEnds(sought, plainLooks(wanted));
  const change = { old: sought, wanted: wanted.slice(head, wanted.length - tail) };
  return exactly(plain, change, most).map((place) => {
    const [first, last] = [place.start + head, place.end - tail];
    const start = placeOf(first);
    return { ...place, start, end: last === first ? start : placeOf(last - 1) + 1 };
  });
}

/** The same without blanks at line ends. */
function withoutLooks(text: string): string {
  return text
    .split('\n')
    .map((line) => plainLooks(line).trimEnd())
    .join('\n');
}

/** How many characters two texts, or lines two lists, have in common at their beginning and at their end. */
export function commonEnds(one: ArrayLike<string>, other: ArrayLike<string>) {
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
function apartFromIndentation(text: string, { old, wanted }: TextEdit, most: number): readonly EditPlace[] {
  const lastEnd = old.endsWith('\n') ? 1 : 0;
  const sought = old.slice(0, old.length - lastEnd).split('\n');
  const lines = text.split('\n');
  if (sought.length > maxLines || lines.length * sought.length > maxCompared) return [];
  const [bodies, soughtBodies] = [lines.map(bodyOf), sought.map(bodyOf)];
  const places: EditPlace[] = [];
  let start = 0;
  for (const [at, line] of lines.entries()) {
    if (places.length === most) break;
    if (soughtBodies.every((body, index) => bodies[at + index] === body)) {
      const found = lines.slice(at, at + sought.length);
      const end = start + found.join('\n').length + lastEnd;
      const shift = end <= text.length ? shiftOf(sought, found) : undefined;
      if (shift) places.push({ start, end, wanted: shifted(wanted, shift) });
    }
    start += line.length + 1;
  }
  return places;
}

function bodyOf(line: string): string {
  return plainLooks(line).trim();
}

function indentationOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}

/** How indentations change: so many levels more, each with the other unit in place of its own. */
interface Shift {
  readonly unit: string;
  readonly other: string;
  readonly by: number;
}

const units = ['\t', '  ', '    ', '   ', '        '];

/** From the indentation of `old` to that of the file. Undefined if the lines are not all shifted alike. */
function shiftOf(old: readonly string[], found: readonly string[]): Shift | undefined {
  const pairs = old.flatMap((line, at) =>
    line.trim() === '' ? [] : [[indentationOf(line), indentationOf(found[at] ?? '')] as const],
  );
  const [[from, to] = ['', '']] = pairs;
  const shift = (unit: string, other: string): Shift => ({
    ...{ unit, other, by: levelsOf(to, other) - levelsOf(from, unit) },
  });
  const converted = units.flatMap((unit) => units.map((other) => shift(unit, other)));
  // Without another unit first; and four blanks are rather one level than two that are moved.
  converted.sort((a, b) => Math.abs(a.by) - Math.abs(b.by));
  return [shift('\t', '\t'), shift(' ', ' '), ...converted].find((one) =>
    pairs.every(([before, after]) => indented(before, one) === after),
  );
}

function levelsOf(indentation: string, unit: string): number {
  let levels = 0;
  while (indentation.startsWith(unit, levels * unit.length)) levels += 1;
  return levels;
}

function indented(indentation: string, { unit, other, by }: Shift): string {
  const levels = levelsOf(indentation, unit);
  return other.repeat(Math.max(0, levels + by)) + indentation.slice(levels * unit.length);
}

function shifted(text: string, shift: Shift): string {
  return text
    .split('\n')
    .map((line) => (line.trim() === '' ? line : indented(indentationOf(line), shift) + line.trimStart()))
    .join('\n');
}

/** As tools and editors number lines: `12| text`, `12: text`, `12→text`, or `src/a.ts:12: text` of a search. */
const numberings = [/^\s*(\d+)\s?[|→]/, /^\s*(\d+)\t/, /^\s*(\d+):/, /^[^\s:]+:(\d+):/];

/** The edit without line numbers, with and without the blank behind them; none if the lines are not numbered. */
function withoutNumbers({ old, wanted }: TextEdit): readonly TextEdit[] {
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
  const firsts = lines.flatMap((line, at) =>
    line.trim() === '' ? [] : [Number(form.exec(line)?.[1] ?? Number.NaN) - at],
  );
  return firsts.length > 0 && firsts.every((first) => first === firsts[0]);
}

/** The edit without blank lines at the ends of `old`, and without those that `wanted` has there too. */
function withoutBlankEnds({ old, wanted }: TextEdit): readonly TextEdit[] {
  const start = /^(?:[^\S\n]*\n)+/;
  const [hasStart, hasEnd] = [start.test(old), old.slice(old.trimEnd().length).includes('\n')];
  if (!hasStart && !hasEnd) return [];
  const trim = (text: string) => {
    const rest = hasStart ? text.replace(start, '') : text;
    return hasEnd ? rest.trimEnd() : rest;
  };
  return [{ old: trim(old), wanted: trim(wanted) }];
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', ''],
]);

/** The edit with what was escaped twice in its JSON. */
function unescaped({ old, wanted }: TextEdit): readonly TextEdit[] {
  const plain = (text: string) =>
    text.replace(/\\([ntr"'\\])/g, (_, letter: string) => escapes.get(letter) ?? letter);
  return plain(old) === old ? [] : [{ old: plain(old), wanted: plain(wanted) }];
}
