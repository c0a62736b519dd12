import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** A place in a real file from which text was cut, to see whether a completion brings it back. */
export interface Hole {
  readonly file: string;
  readonly languageId: string;
  /** The file without the text. */
  readonly before: string;
  readonly after: string;
  /** What was cut: the rest of a line, or the rest of a block. */
  readonly text: string;
  readonly kind: 'line' | 'block';
}

const languages: Readonly<Record<string, string>> = {
  '.ts': 'typescript',
  '.py': 'python',
  '.go': 'go',
  '.lua': 'lua',
};

/** The project's own sources of one folder, and files of other languages. */
export function sourceFiles(folder: string): readonly string[] {
  const own = readdirSync(folder, { recursive: true }).map((path) => join(folder, String(path)));
  const others = readdirSync('test/fixtures/holes').map((path) => join('test/fixtures/holes', path));
  return [...own, ...others].filter((path) => extname(path) in languages).sort();
}

/** So many holes of each file, the same ones each time. */
export function cutHoles(file: string, count: number): readonly Hole[] {
  const source = readFileSync(file, 'utf8');
  const lines = source.split('\n');
  const worth = lines.flatMap((line, index) => (/\w.{8,}/.test(line) && !isComment(line) ? [index] : []));
  const step = Math.max(1, Math.floor(worth.length / count));
  return worth
    .filter((_, index) => index % step === Math.floor(step / 2))
    .slice(0, count)
    .map((index, order) => cutAt({ file, lines, index }, order % 2 === 0 ? 'line' : 'block'))
    .filter(({ text }) => text.trim() !== '');
}

function cutAt(
  {
    file,
    lines,
    index,
  }: { readonly file: string; readonly lines: readonly string[]; readonly index: number },
  kind: Hole['kind'],
): Hole {
  const line = lines[index] ?? '';
  const indentation = /^\s*/.exec(line)?.[0].length ?? 0;
  // After a word, so that there is something to go by.
  const at =
    kind === 'block' ? line.length : indentation + 1 + (/^\S*\s?/.exec(line.trim())?.[0].length ?? 1) - 1;
  const last = kind === 'block' ? blockEnd(lines, index, indentation) : index;
  const text = kind === 'block' ? `\n${lines.slice(index + 1, last + 1).join('\n')}` : line.slice(at);
  return {
    ...{ file, kind, text, languageId: languages[extname(file)] ?? 'plaintext' },
    before: [...lines.slice(0, index), line.slice(0, at)].join('\n'),
    after: `\n${lines.slice(last + 1).join('\n')}`,
  };
}

/** The lines that are indented deeper, at most twelve; a block of none is the next line. */
function blockEnd(lines: readonly string[], index: number, indentation: number): number {
  let last = index;
  while (last - index < 12) {
    const next = lines[last + 1];
    if (next === undefined || next.trim() === '' || (/^\s*/.exec(next)?.[0].length ?? 0) <= indentation)
      break;
    last += 1;
  }
  return last === index ? index + 1 : last;
}

function isComment(line: string): boolean {
  return /^\s*(\/\/|\/?\*|#|--|import\b|package\b)/.test(line);
}
