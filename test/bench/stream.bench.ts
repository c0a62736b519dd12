import { StreamParser } from '../../daemon/stream/stream.ts';
import { createFigures, median } from './figures.ts';

/**
 * The stream library against the least that a scanner with the same interface can do: it walks each piece once, tells
 * what stands between `<` and `>` from what does not (each `<` begins anew), and returns both as events. It knows no
 * tags, no code and no tool calls.
 */
const tools = [
  { name: 'get_weather', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } },
];
const contextTags = ['context', 'selection', 'vscode_context'];
const { section, row } = createFigures('stream');
const megabyte = 1024 * 1024;
const pieceLength = 3;
/** What the chat sent is full of this. A block that repeats it stays withheld. */
const sentence = 'The file that was attached says so, line by line.\n';

const inputs: Readonly<Record<string, (length: number) => string>> = {
  prose: (n) =>
    fill('The answer is that a < b holds for `x` and\nfor every y that we have seen so far.\n\n', n),
  thinking: (n) => `<think>${fill('First I look at the question, then at its parts\nand the rest. ', n - 7)}`,
  'a tag every ten tokens': (n) => fill('ten tokens of plain text come and go <b>so</b> ', n),
  'hostile: open angles': (n) => fill('<', n),
  'hostile: an unterminated tag': (n) => `<think ${fill('a="b" ', n - 7)}`,
  'hostile: a million braces': (n) => fill('{', n),
  'hostile: an unclosed context block': (n) => `<context>${fill(sentence, n - 9)}`,
  'hostile: context tags that never end': (n) => fill('<context', n),
};

function main(): void {
  section(
    `The stream library at ${pieceLength}-byte pieces, against a bare linear scanner of the same pieces (medians)`,
  );
  for (const [name, make] of Object.entries(inputs)) {
    const figures = [1, 4, 16].map((size) => measure(make(size * megabyte), size));
    const [one, four, sixteen] = figures;
    if (!one || !four || !sixteen) continue;
    const ratios = figures.map(({ ours, bare }) => (ours / bare).toFixed(2)).join(', ');
    const speeds = figures.map(({ ours, size }) => Math.round(size / (ours / 1000))).join(', ');
    const growth = doubling(make);
    row(
      name,
      `${speeds} MB/s at 1, 4, 16 MB; ${ratios} times the scanner's time; twice as long: ${growth.toFixed(2)} times`,
      {
        // The scanner compares nothing with what was sent.
        goal: name.includes('context') ? 'linear: at most 2.5' : 'at most 2; at most 2.5',
        plot: {
          unit: 'MB/s',
          bars: { 'a bare scanner': 4 / (four.bare / 1000), 'the library': 4 / (four.ours / 1000) },
        },
      },
    );
  }
}

function measure(input: string, size: number): { ours: number; bare: number; size: number } {
  const [pieces, sent] = [cut(input), fill(sentence, input.length)];
  const runs = size === 16 ? 3 : 5;
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    bare.push(timed(() => scan(pieces)));
    ours.push(timed(() => parse(pieces, sent)));
  }
  return { ours: median(ours), bare: median(bare), size };
}

function doubling(make: (length: number) => string): number {
  const [small, large] = [cut(make(2 * megabyte)), cut(make(4 * megabyte))];
  const ratios = Array.from({ length: 5 }, () => {
    const first = timed(() => parse(small, fill(sentence, 2 * megabyte)));
    return timed(() => parse(large, fill(sentence, 4 * megabyte))) / first;
  });
  return median(ratios);
}

function parse(pieces: readonly string[], sent: string): number {
  const parser = new StreamParser({
    tools,
    contextTags,
    sent: { blocks: [`<context>${sent}</context>`], results: [] },
  });
  let shown = 0;
  for (const piece of pieces)
    for (const event of parser.push(piece)) if ('text' in event) shown += event.text.length;
  for (const event of parser.finish()) if ('text' in event) shown += event.text.length;
  return shown;
}

function scan(pieces: readonly string[]): number {
  const scanner = new BareScanner();
  let shown = 0;
  for (const piece of pieces) for (const event of scanner.push(piece)) shown += event.text.length;
  return shown;
}

class BareScanner {
  #inTag = false;

  push(piece: string): { type: string; text: string }[] {
    const events: { type: string; text: string }[] = [];
    let start = 0;
    const close = (end: number) => {
      if (end > start) events.push({ type: this.#inTag ? 'tag' : 'text', text: piece.slice(start, end) });
      start = end;
    };
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code === 60) {
        close(at);
        this.#inTag = true;
      } else if (code === 62 && this.#inTag) {
        close(at + 1);
        this.#inTag = false;
      }
    }
    close(piece.length);
    return events;
  }
}

function cut(input: string): string[] {
  return Array.from({ length: Math.ceil(input.length / pieceLength) }, (_, n) =>
    input.slice(n * pieceLength, (n + 1) * pieceLength),
  );
}

function fill(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

function timed(work: () => number): number {
  const start = performance.now();
  if (work() < 0) throw new Error('Nothing was read.');
  return performance.now() - start;
}

main();
