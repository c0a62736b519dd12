import { createHash } from 'node:crypto';
import { escapeXml } from '../markdown/xmlText.ts';
import type { BookPictures } from './bookPictures.ts';
import { type BookDescription, xhtmlPage } from './xhtmlPage.ts';

export type Cover = ReturnType<typeof createCover>;

/** The picture that the collection names, or else a cover with its title. */
export function createCover(description: BookDescription, path: string | null, pictures: BookPictures) {
  const picture = path === null ? undefined : pictures.find(path);
  const file = picture?.file ?? 'cover.svg';
  const { title, language } = description;
  const body = `<img src="${file}" alt="${escapeXml(`Cover: ${title}`)}" role="doc-cover"/>\n`;
  const xhtml = xhtmlPage(title, language, body, ' class="cover" epub:type="cover"');
  return {
    file,
    xhtml,
    /** Null if the cover is one of the pictures. */ svg: picture ? null : drawing(description),
  };
}

/** 1600 by 2400, the shape of most covers. Each collection has its own hue. */
function drawing({ identifier, title, authors, language }: BookDescription): string {
  const [first = 0] = createHash('sha256').update(identifier).digest();
  const [paper, ink] = hues[first % hues.length] ?? hues[0];
  const { size, lines } = fitted(title);
  const text = lines.map((line, at) =>
    textAt(line, 620 + Math.round(at * size * 1.18), `font-size="${size}" font-weight="bold"`),
  );
  const names = authors.length > 3 ? `${authors.slice(0, 3).join(', ')} and others` : authors.join(', ');
  const byline = wrapped(names, 1240 / 58).slice(0, 3);
  const authorLines = byline.map((line, at) =>
    textAt(line, 2130 - (byline.length - 1 - at) * 76, 'font-size="58"'),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1600 2400" width="1600" height="2400" xml:lang="${language}">
<title>${escapeXml(title)}</title>
<rect width="1600" height="2400" fill="${paper}"/>
<rect x="90" y="90" width="1420" height="2220" fill="none" stroke="${gold}" stroke-width="6"/>
<rect x="180" y="330" width="240" height="18" fill="${gold}"/>
<g fill="${ink}" font-family="Georgia, 'Noto Serif', 'Noto Serif CJK SC', serif">
${[...text, ...authorLines].join('\n')}
</g>
</svg>
`;
}

/** Paper and ink. Each hue goes with gold, and its contrast also works on grey paper. */
const hues = [
  ['#1b4138', '#f3f7f6'],
  ['#1b3b41', '#f3f6f7'],
  ['#1b2f41', '#f3f5f7'],
  ['#1b2441', '#f3f4f7'],
  ['#241b41', '#f4f3f7'],
  ['#411b34', '#f7f3f5'],
  ['#411b22', '#f7f3f4'],
] as const;
const gold = '#d6ad5c';

function textAt(line: string, y: number, attributes: string): string {
  return `<text x="180" y="${y}" ${attributes}>${escapeXml(line)}</text>`;
}

/** The largest letters that fit the title into six lines. */
function fitted(title: string): { readonly size: number; readonly lines: readonly string[] } {
  for (const size of [190, 160, 130, 105]) {
    const lines = wrapped(title, 1240 / size);
    if (lines.length <= 6) return { size, lines };
  }
  const lines = wrapped(title, 1240 / 84);
  return { size: 84, lines: lines.length > 12 ? [...lines.slice(0, 11), `${lines[11]}…`] : lines };
}

/** @param width in multiples of the letter height */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text
    .slice(0, 500)
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((long) => broken(long, width))) {
    const longer = line ? `${line} ${word}` : word;
    if (widthOf(longer) > width && line) lines.push(line);
    line = widthOf(longer) > width ? word : longer;
  }
  return line ? [...lines, line] : lines;
}

/** Cuts a word that is wider than a line into pieces, as in scripts without spaces. */
function broken(word: string, width: number): string[] {
  const pieces: string[] = [];
  for (const character of word) {
    const piece = `${pieces.at(-1) ?? ''}${character}`;
    if (pieces.length > 0 && widthOf(piece) <= width) pieces[pieces.length - 1] = piece;
    else pieces.push(character);
  }
  return pieces;
}

/** An estimate, in multiples of the letter height: there is no font to measure with. */
function widthOf(text: string): number {
  return [...text].reduce(
    (width, character) => width + (/[\u1100-\uffdc]|[\u{1f000}-\u{3ffff}]/u.test(character) ? 1 : 0.58),
    0,
  );
}
