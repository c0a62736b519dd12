// Packages that many tests load, bundled once beside the tests: as hundreds of small files they would take more time
// in each test's process than most tests.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const names = [
  ...['tap', 'fast-check', 'ajv', 'htmlparser2', 'typebox', 'undici', 'yaml', 'zod'],
  ...['@agentclientprotocol/sdk', '@modelcontextprotocol/client', '@fastify/type-provider-typebox'],
  ...['vscode-jsonrpc', 'vscode-languageserver', 'vscode-languageserver-textdocument'],
];
const isOfThem = new RegExp(`^(?:${names.join('|')})(?:/.*)?$`);
const folders = ['client', 'daemon', 'docs-service', 'protocol', 'test'];

/** For the build of the tests: what they import of these packages is in `packages/`, beside them. */
export const packagesBeside = {
  name: 'packages are bundled once',
  setup: ({ onResolve }) =>
    onResolve({ filter: isOfThem }, ({ path }) => ({
      path: `./packages/${fileOf(path)}.mjs`,
      external: true,
    })),
};

/** Bundles them into `packages/` of the folder, unless they are there. */
export async function buildTestPackages(folder) {
  const imports = importsOfThem();
  const stamp = createHash('sha256')
    .update(imports.join())
    .update(readFileSync('package-lock.json'))
    .digest('hex');
  const [outdir, stampFile] = [join(folder, 'packages'), join(folder, 'packages', 'stamp')];
  if (stamp === tryRead(stampFile)) return;
  rmSync(outdir, { recursive: true, force: true });
  await build({
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
    entryPoints: imports.map((path) => ({ in: path, out: fileOf(path) })),
    outdir,
    outExtension: { '.js': '.mjs' },
    plugins: [entries],
    // What was CommonJS loads the modules of Node by `require`.
    banner: {
      js: "import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url);",
    },
  });
  writeFileSync(stampFile, stamp);
}

/** A module for each import, with all names that Node finds in it: esbuild finds none in CommonJS. */
const entries = {
  name: 'entries',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: isOfThem }, ({ kind, path }) =>
      kind === 'entry-point' ? { path, namespace: 'entry' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'entry' }, async ({ path }) => ({
      contents: `export { ${(await namesIn(path)).join(', ')} } from '${path}';`,
      resolveDir: '.',
    }));
  },
};

/** tap would begin to report as soon as it is loaded. */
async function namesIn(path) {
  if (path === 'tap') return ['default', 't', 'Test'];
  return Object.keys(await import(path)).filter((name) => /^[\w$]+$/.test(name));
}

/** What the sources and the tests import of these packages, such as `zod/mini`. */
function importsOfThem() {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((path) => join(folder, path)),
  );
  const texts = files.filter((path) => path.endsWith('.ts')).map((path) => readFileSync(path, 'utf8'));
  const found = texts.flatMap((text) => [...text.matchAll(/(?:\bfrom |\bimport\()'([^'.][^']*)'/g)]);
  return [...new Set(found.map(([, path]) => path))].filter((path) => isOfThem.test(path)).sort();
}

function fileOf(path) {
  return path.replaceAll(/[@/.]/g, '-');
}

function tryRead(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return;
  }
}
