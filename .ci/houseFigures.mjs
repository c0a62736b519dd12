// Counts what the sources are made of.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { interfacesWithOneCreator } from './interfaceCreators.mjs';

const rooms = ['client', 'daemon', 'docs-service', 'protocol'];

/** Figures have budgets, by the same names; facts have none. */
export function countSources() {
  const files = rooms.flatMap((room) => readFiles(room, '.ts'));
  const tests = readFiles('test', '.ts').filter(({ path }) => !path.startsWith(join('test', 'fixtures')));
  const importers = importersOf(files);
  const shreds = files.filter(({ path, lines }) => lines < 40 && importers.get(path)?.size === 1);
  const importedByTests = importersOf(tests);
  const tested = files.filter(({ path }) => importedByTests.has(path));
  const parsed = files.map(parse);
  const functions = parsed.flatMap(functionsOf);
  const long = functions.filter(({ lines }) => lines > 60);
  const single = interfacesWithOneCreator(parsed);
  const { dependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
  return {
    figures: {
      files: files.length,
      lines: linesOf(files),
      ...Object.fromEntries(
        rooms.map((room) => [`lines of ${room}`, linesOf(files.filter(({ path }) => roomOf(path) === room))]),
      ),
      // A file of types alone is made from the protocol.
      'lines of Lua': linesOf(readFiles('client', '.lua').filter(({ text }) => !text.startsWith('---@meta'))),
      'files under 40 lines with one importer': shreds.length,
      'functions over 60 lines': long.length,
      'interfaces with one creator': single.length,
      'lines of tests': linesOf(tests),
      'product modules that tests import': tested.length,
      'runtime dependencies': Object.keys(dependencies).length,
    },
    facts: factsOf(files, functions),
    filesBehind: {
      'files under 40 lines with one importer': shreds.map(
        ({ path, lines }) => `${lines} ${path} <- ${[...importers.get(path)]}`,
      ),
      'functions over 60 lines': long.map(({ lines, place }) => `${lines} ${place}`),
      'interfaces with one creator': single,
      'product modules that tests import': tested.map(({ path }) => path),
    },
  };
}

function factsOf(files, functions) {
  const sorted = files.map(({ lines }) => lines).sort((one, other) => one - other);
  const largest = files.reduce((one, other) => (other.lines > one.lines ? other : one));
  return {
    'median file': sorted[sorted.length >> 1],
    'files under 25 lines': sorted.filter((lines) => lines < 25).length,
    'largest file': `${largest.lines} (${largest.path})`,
    functions: functions.length.toLocaleString('en'),
    'loose files in daemon/ and docs-service/': files.filter(({ path }) =>
      /^(?:daemon|docs-service)\/[^/]+$/.test(path),
    ).length,
  };
}

function readFiles(folder, ending) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => {
      const path = join(folder, name);
      const text = readFileSync(path, 'utf8');
      return { path, text, lines: text.split('\n').length - 1 };
    });
}

function roomOf(path) {
  return path.split(/[/\\]/, 1)[0];
}

function linesOf(files) {
  return files.reduce((sum, { lines }) => sum + lines, 0);
}

/** By the path of a file, those that import it. */
function importersOf(sources) {
  const found = new Map();
  for (const { path, text } of sources)
    for (const [, name] of text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(path), name));
      found.set(target, (found.get(target) ?? new Set()).add(path));
    }
  return found;
}

function parse({ path, text }) {
  return { path, source: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
}

function functionsOf({ path, source }) {
  const found = [];
  const lineAt = (place) => source.getLineAndCharacterOfPosition(place).line;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const [first, last] = [lineAt(node.getStart(source)), lineAt(node.end)];
      found.push({ place: `${path}:${first + 1}`, lines: last - first + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
