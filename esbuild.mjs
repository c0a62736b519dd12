// Builds the programs into dist/ and, with --tests, the tests and benchmarks into .tap-build/: all of them, or those
// that are named. Usage: node esbuild.mjs [--tests[=NAME,…]] [--minify]
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';

const require = createRequire(import.meta.url);
const { version } = require('./package.json');

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  define: { RUNNER_VERSION: JSON.stringify(version) },
  loader: { '.wasm': 'binary' },
  logLevel: 'warning',
};

const programs = {
  ...shared,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  minify: process.argv.includes('--minify'),
  // What is imported would first be searched for its exports, which takes longer than to run it.
  supported: { 'dynamic-import': false },
};

/** WebAssembly is a part of the bundle, also where packages are not. */
const codeInside = {
  name: 'WebAssembly is inside',
  setup: ({ onResolve }) => onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path: require.resolve(path) })),
};

/** A module that becomes a bundle of its own beside the one that imports it when it is wanted. */
const loadedLater = (module, folder = '.') => ({
  name: `${module} is loaded later`,
  setup: ({ onResolve }) =>
    onResolve({ filter: new RegExp(`/${module}\\.ts$`) }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `${folder}/${module}.cjs`, external: true } : undefined,
    ),
});

/** What many bundles of the daemon use is a bundle beside them, so that the package has it once. */
const platformModules = ['program', 'processGroups'];
const platformFolder = join('protocol', 'base', 'platform');
const platformBeside = (folder = '.') => ({
  name: 'the platform is a bundle of its own',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) => {
      const [module] = platformModules.filter((name) =>
        join(resolveDir, path).endsWith(join(platformFolder, `${name}.ts`)),
      );
      const isShared = module !== undefined && kind !== 'entry-point';
      return isShared ? { path: `${folder}/${module}.cjs`, external: true } : undefined;
    }),
});

/** One character beyond Latin, as in a comment, would make Node keep two bytes for each character of the file. */
const inAscii = {
  name: 'written in ASCII',
  setup: ({ initialOptions, onEnd }) => {
    initialOptions.write = false;
    onEnd(({ outputFiles }) => {
      for (const { path, text } of outputFiles ?? []) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text.replace(/(?<!\\)[^\0-\x7f]/g, escaped));
      }
    });
  },
};

/** Bundled strings are escaped already: this is in comments and regular expressions. */
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Each import of the whole editor's API would copy its 600 names. This is the same without a copy. */
const editorAsItIs = {
  name: "the editor's API is not copied",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]client[/\\]vscode[/\\].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        "import * as vscode from 'vscode';",
        "import vscode = require('vscode');",
      ),
      loader: 'ts',
    })),
};

// A bundle that is no longer made must not be packed.
for (const folder of ['docs-service', 'runnerd', 'terminal'])
  rmSync(`dist/${folder}`, { recursive: true, force: true });

await build({
  ...shared,
  entryPoints: {
    extension: 'client/vscode/extension.ts',
    languageClient: 'client/vscode/daemon/languageClient.ts',
    continueConfig: 'client/vscode/imports/continueConfig.ts',
  },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  external: ['vscode'],
  // The language client is nine tenths of the extension's code, and activation does not need it. An import reads YAML.
  plugins: [inAscii, editorAsItIs, loadedLater('languageClient'), loadedLater('continueConfig')],
  // The editor's host loads what is required, in every version.
  supported: { 'dynamic-import': false },
  minify: process.argv.includes('--minify'),
});

// The daemon's main program is small: it turns on the compile cache, which holds for what is loaded after it.
await build({
  ...programs,
  entryPoints: { runnerd: 'daemon/main.ts', terminal: 'client/terminal/main.ts' },
  outdir: 'dist',
  banner: { js: '#!/usr/bin/env node' },
  plugins: [
    inAscii,
    platformBeside('./runnerd'),
    ...['handshake', 'acpServer', 'practiceRunner', 'readSecrets'].map((module) =>
      loadedLater(module, './runnerd'),
    ),
  ],
});

// The folder beside it, which moves with it. Each protocol is whole, so that no start loads the other.
await build({
  ...programs,
  entryPoints: {
    handshake: 'daemon/compose/handshake.ts',
    server: 'daemon/compose/server.ts',
    acpServer: 'daemon/compose/acpServer.ts',
    acpConnection: 'daemon/acp/acpConnection.ts',
    practiceRunner: 'daemon/practice/practiceRunner.ts',
    readSecrets: 'daemon/config/secretSources.ts',
    ollamaLibrary: 'daemon/catalog/ollamaLibrary.ts',
    httpAgent: 'daemon/runner/http/httpAgent.ts',
    mcpRuntime: 'daemon/tools/mcpRuntime.ts',
    prompts: 'daemon/prompts/prompts.ts',
    engine: 'daemon/engine/engine.ts',
    answerFormat: 'daemon/chat/answerFormat.ts',
    namedFiles: 'daemon/files/namedFiles.ts',
    engineSupervisor: 'daemon/engine/supervisor/main.ts',
    ...Object.fromEntries(platformModules.map((name) => [name, `protocol/base/platform/${name}.ts`])),
  },
  outdir: 'dist/runnerd',
  // `initialize` is answered before the server is loaded, only `--acp` needs the SDK of its protocol, and no start
  // needs the HTTP client, MCP or a reader of HTML.
  plugins: [
    inAscii,
    platformBeside(),
    ...[
      'server',
      'answerFormat',
      'acpConnection',
      'engine',
      'httpAgent',
      'mcpRuntime',
      'namedFiles',
      'ollamaLibrary',
      'prompts',
    ].map((module) => loadedLater(module)),
  ],
  alias: {
    // The validator that the client of MCP brings would be a quarter of the bundle, and nothing asks it.
    '@modelcontextprotocol/client/_shims': './daemon/tools/clientShims.ts',
    // The HTTP client would load it for HTTP/2, which nothing asks for.
    'node:http2': './daemon/runner/http/noHttp2.cjs',
  },
});

// The engine is a process of its own. It imports its library, which is an ES module, from where the user installed it.
await build({
  ...programs,
  entryPoints: { engine: 'daemon/engine/process/main.ts' },
  outdir: 'dist',
  supported: {},
  plugins: [inAscii],
});

// What npm installs if the user wants an engine of Runner's own.
cpSync('daemon/engine/lock', 'dist/runnerd/engineLock', { recursive: true });

// What the terminal loads with the first code that an answer has.
await build({
  ...programs,
  entryPoints: { codeColours: 'client/terminal/screen/codeColours.ts' },
  outdir: 'dist/terminal',
  plugins: [inAscii],
});

const documentService = {
  ...shared,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  // The library that packs books could fetch pictures; no book does.
  alias: { 'node-fetch': './docs-service/formats/epub/noFetch.cjs' },
  // SQLite for Node before 24, whose own is used from then on. It is native, so no bundle can hold it.
  external: ['libsql', 'pg-native'],
  // The decoder of WebP gets its code from the bundle, not from a file beside it.
  define: { ...shared.define, 'import.meta.url': '""' },
  // What is imported would first be searched for its exports, which takes longer than to run it.
  supported: { 'dynamic-import': false },
};

// The document service: one program, which is small, so that each command begins at once.
await build({
  ...documentService,
  entryPoints: { 'runner-docs': 'docs-service/main.ts' },
  outdir: 'dist',
  plugins: [
    inAscii,
    ...['service', 'stdioService', 'fontBook'].map((module) => loadedLater(module, './docs-service')),
  ],
  banner: { js: '#!/usr/bin/env node' },
});

// The folder beside it, which moves with it: what commands load, its workers and its fonts.
await build({
  ...documentService,
  entryPoints: {
    service: 'docs-service/service.ts',
    stdioService: 'docs-service/stdioService.ts',
    fontBook: 'docs-service/formats/pdf/fontBook.ts',
    mcpProtocol: 'docs-service/mcp/mcpProtocol.ts',
    sanitisedMarkdown: 'docs-service/formats/markdown/sanitisedMarkdown.ts',
    indexWorker: 'docs-service/search/sqlite/indexWorker.ts',
    meaningWorker: 'docs-service/meaning/meaningWorker.ts',
    renderWorker: 'docs-service/formats/renderWorker.ts',
    codeTokens: 'protocol/base/codeTokens.ts',
  },
  outdir: 'dist/docs-service',
  // The SDK of MCP is as large as the rest, and only who asks by MCP needs it, or searches there. The parsers of
  // languages are for documents with code.
  plugins: [
    inAscii,
    ...['mcpProtocol', 'sanitisedMarkdown', 'codeTokens'].map((module) => loadedLater(module)),
  ],
});
mkdirSync('dist/docs-service/fonts', { recursive: true });
for (const [folder, files] of Object.entries({
  'pdfmake/fonts/Roboto': /\.ttf$/,
  '@expo-google-fonts/jetbrains-mono/400Regular': /\.ttf$/,
  '@expo-google-fonts/jetbrains-mono/400Regular_Italic': /\.ttf$/,
  '@expo-google-fonts/jetbrains-mono/700Bold': /\.ttf$/,
  '@expo-google-fonts/jetbrains-mono/700Bold_Italic': /\.ttf$/,
  '@expo-google-fonts/noto-sans-math/400Regular': /\.ttf$/,
  '@expo-google-fonts/noto-sans-symbols-2/400Regular': /\.ttf$/,
  '@expo-google-fonts/noto-emoji/400Regular': /\.ttf$/,
}))
  for (const file of readdirSync(`node_modules/${folder}`).filter((name) => files.test(name)))
    cpSync(`node_modules/${folder}/${file}`, `dist/docs-service/fonts/${file}`);

// A link on somebody's path runs them as programs.
for (const program of ['terminal', 'runnerd', 'runner-docs']) chmodSync(`dist/${program}.cjs`, 0o755);

const [tests] = process.argv.filter((word) => /^--tests(=|$)/.test(word));
if (tests !== undefined) {
  const all = filesEndingIn('.test.ts', '.bench.ts');
  const named = tests.split('=')[1]?.split(',') ?? [];
  const unknown = named.filter((name) => !all.some((path) => nameOf(path) === name));
  if (unknown.length > 0) {
    console.error(`There is no test or benchmark with the name ${unknown.join(', ')}.`);
    process.exit(1);
  }
  if (named.length === 0) rmSync('.tap-build', { recursive: true, force: true });
  const { buildTestPackages, packagesBeside } = await import('./.ci/testPackages.mjs');
  await buildTestPackages('.tap-build');
  await build({
    ...shared,
    entryPoints: all
      .filter((path) => named.length === 0 || named.includes(nameOf(path)))
      .map((path) => ({ in: path, out: basename(path, '.ts') })),
    outdir: '.tap-build',
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    packages: 'external',
    plugins: [packagesBeside, codeInside],
    sourcemap: 'inline',
    // The sources are there.
    sourcesContent: false,
  });
}

/** Such as `chat` for `test/daemon/chat.test.ts`. */
function nameOf(path) {
  return basename(path).replace(/\.(?:test|bench)\.ts$/, '');
}

function filesEndingIn(...endings) {
  return readdirSync('test', { recursive: true })
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .map((path) => join('test', path));
}
