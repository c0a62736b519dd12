// Prints how large the product is and how it is cut: the figures by which a change of its layout is judged.
// Usage: node .ci/house.mjs [--journeys] [--list]
// --journeys also runs the built programs, and counts the files that a request passes; --list names the files.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { measureJourneys } from './journeys.mjs';

const rooms = ['client', 'daemon', 'docs-service', 'protocol'];
const files = rooms
  .flatMap((room) => readdirSync(room, { recursive: true }).map((name) => join(room, String(name))))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(path, 'utf8');
    return { path, text, lines: text.split('\n').length - 1 };
  });
const importers = importersOf(files);
const sorted = files.map(({ lines }) => lines).sort((one, other) => one - other);
const shreds = files.filter(({ path, lines }) => lines < 40 && importers.get(path)?.size === 1);
const functions = files.flatMap(({ path, text }) => functionsOf(path, text));
const long = functions.filter(({ lines }) => lines > 60);
const loose = files.filter(({ path }) => /^(?:daemon|docs-service)\/[^/]+$/.test(path));
const largest = files.reduce((one, other) => (other.lines > one.lines ? other : one));

const rows = [
  ['files', files.length],
  ['lines', sorted.reduce((sum, lines) => sum + lines, 0).toLocaleString('en')],
  ['median file', sorted[sorted.length >> 1]],
  ['files under 25 lines', sorted.filter((lines) => lines < 25).length],
  ['files under 40 lines with one importer', shreds.length],
  ['largest file', `${largest.lines} (${largest.path})`],
  [
    'functions over 60 lines',
    `${long.length} of ${functions.length} (${((long.length / functions.length) * 100).toFixed(1)} %)`,
  ],
  ['loose files in daemon/ and docs-service/', loose.length],
];
const journeys = process.argv.includes('--journeys') ? await measureJourneys() : [];
for (const [name, passed] of journeys) rows.push([`files passed by ${name}`, passed.length]);
for (const [name, value] of rows) console.log(`${name.padEnd(55)} ${value}`);

if (process.argv.includes('--list')) {
  console.log('\nFiles under 40 lines with one importer:');
  for (const { path, lines } of shreds)
    console.log(`${String(lines).padStart(4)}  ${path}  <- ${[...importers.get(path)]}`);
  for (const [name, passed] of journeys) console.log(`\n${name}:\n  ${passed.join('\n  ')}`);
}

function importersOf(sources) {
  const found = new Map();
  for (const { path, text } of sources)
    for (const [, name] of text.matchAll(/\b(?:from|import)\s*\(?'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(path), name));
      found.set(target, (found.get(target) ?? new Set()).add(path));
    }
  return found;
}

function functionsOf(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const lineAt = (place) => source.getLineAndCharacterOfPosition(place).line;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body)
      found.push({ path, lines: lineAt(node.end) - lineAt(node.getStart(source)) + 1 });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
