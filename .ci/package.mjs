// Packs the extension as it is built, with smaller programs. Usage: node .ci/package.mjs [FILE.vsix]
// vsce packs the folder that it runs in, and `files` of our package.json names what the npm package holds. So what the
// extension needs is copied into a folder of its own, with a manifest without the keys for npm.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import { minified } from './minified.mjs';
import { unzipped, zipped } from './zipped.mjs';

/** Files, or all files of a folder with these endings. */
const parts = [
  ['dist/extension.cjs'],
  ['dist/languageClient.cjs'],
  ['dist/continueConfig.cjs'],
  ['dist/engine.cjs'],
  ['dist/runnerd.cjs'],
  ['dist/runnerd', '.cjs'],
  ['dist/runnerd/engineLock', '.json'],
  ['client/vscode/README.md'],
  ['client/vscode/icon.png'],
  ['client/vscode/viewIcon.svg'],
  ['client/vscode/modelfile', '.json', '.svg'],
  ['client/vscode/walkthrough', '.svg'],
  ['CHANGELOG.md'],
  ['LICENSE'],
];

/** What only other programs start. `daemon/main.ts` says so if somebody asks for it. */
const leftOut = new Set(['acpServer.cjs', 'acpConnection.cjs', 'practiceRunner.cjs']);

/** Nearly all of their code is from packages. The other programs keep the names of functions, for stacks in the log. */
const mostlyPackages = new Set([
  'languageClient.cjs',
  'continueConfig.cjs',
  'handshake.cjs',
  'httpAgent.cjs',
  'mcpRuntime.cjs',
  'prompts.cjs',
  'ollamaLibrary.cjs',
  'answerFormat.cjs',
  'namedFiles.cjs',
]);

const out = resolve(process.argv[2] ?? 'dist/runner.vsix');
const stage = mkdtempSync(join(tmpdir(), 'runner-vsix-'));
try {
  for (const file of parts.flatMap(filesOf)) {
    mkdirSync(join(stage, dirname(file)), { recursive: true });
    if (file.endsWith('.cjs')) {
      const shortensNames = mostlyPackages.has(basename(file));
      writeFileSync(join(stage, file), await minified(file, { shortensNames }));
    } else if (file.endsWith('.json'))
      writeFileSync(join(stage, file), JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))));
    else cpSync(file, join(stage, file));
  }
  writeFileSync(join(stage, 'package.json'), JSON.stringify(manifest()));
  await createVSIX({
    cwd: stage,
    packagePath: out,
    readmePath: 'client/vscode/README.md',
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
  // Smaller than vsce packs it, and the same bytes for the same files.
  writeFileSync(out, zipped(unzipped(readFileSync(out))));
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function filesOf([path, ...endings]) {
  if (endings.length === 0) return [path];
  return readdirSync(path)
    .filter((name) => endings.some((ending) => name.endsWith(ending)) && !leftOut.has(name))
    .map((name) => join(path, name));
}

function manifest() {
  const { bin, files, man, mcpName, scripts, dependencies, devDependencies, overrides, ...rest } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  );
  return { ...rest, files: ['**'] };
}
