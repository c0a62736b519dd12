// Counts how often each function of the built programs ran, from the coverage that Node writes.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const dist = pathToFileURL(resolve('dist')).href;
const preloaded = resolve(import.meta.dirname, 'steadyCounts.cjs');

/** By the file of each function and its place in the bundle. The run gets the environment for its programs. */
export async function countFunctions(run, home) {
  const folder = mkdtempSync(join(home, 'run-'));
  const coverage = join(folder, 'coverage');
  await run({
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CONFIG_HOME: join(home, 'config'),
    NODE_V8_COVERAGE: coverage,
    NODE_OPTIONS: `--require ${JSON.stringify(preloaded)}`,
  });
  const counts = new Map();
  for (const name of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8'));
    for (const { url, functions } of result)
      if (url.startsWith(`${dist}/`)) add(counts, fileURLToPath(url), functions);
  }
  return counts;
}

function add(counts, bundle, functions) {
  const modules = modulesOf(readFileSync(bundle, 'utf8'));
  for (const { functionName, ranges } of functions) {
    const [{ startOffset, count }] = ranges;
    // The first function of a script is the script itself.
    if (count === 0 || (functionName === '' && startOffset === 0)) continue;
    const path = modules.findLast(({ start }) => start <= startOffset)?.path ?? '';
    if (!/^(?:client|daemon|docs-service|protocol)\//.test(path)) continue;
    const place = `${path}:${functionName}:${startOffset}`;
    counts.set(place, (counts.get(place) ?? 0) + count);
  }
}

/** Where each module of a bundle begins: esbuild writes the path of its file into a comment above it. */
function modulesOf(text) {
  return [...text.matchAll(/^ *\/\/ (\S+\.(?:ts|js|mjs|cjs))$/gm)].map(({ index, 1: path }) => ({
    start: index,
    path,
  }));
}
