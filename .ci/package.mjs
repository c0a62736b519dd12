// Packs the extension as it is built. Usage: node .ci/package.mjs [FILE.vsix]
// vsce packs the folder that it runs in, and `files` of our package.json names what the npm package holds. So what the
// extension needs is copied into a folder of its own, with a manifest without the keys for npm.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createVSIX } from '@vscode/vsce';

/** Files, or all files of a folder with these endings. */
const parts = [
  ['dist/extension.cjs'],
  ['dist/languageClient.cjs'],
  ['dist/engine.cjs'],
  ['dist/runnerd.cjs'],
  ['dist/runnerd', '.cjs'],
  ['dist/runnerd/engineLock', '.json'],
  ['client/vscode/README.md'],
  ['client/vscode/icon.png'],
  ['client/vscode/viewIcon.svg'],
  ['client/vscode/modelfile', '.json', '.svg'],
  ['client/vscode/walkthrough', '.svg'],
  // The practice runner quotes them.
  ['docs', '.md'],
  ['CHANGELOG.md'],
  ['LICENSE'],
];

const out = resolve(process.argv[2] ?? 'dist/runner.vsix');
const stage = mkdtempSync(join(tmpdir(), 'runner-vsix-'));
try {
  for (const file of parts.flatMap(filesOf)) {
    mkdirSync(join(stage, dirname(file)), { recursive: true });
    cpSync(file, join(stage, file));
  }
  writeFileSync(join(stage, 'package.json'), JSON.stringify(manifest(), null, 2));
  await createVSIX({
    cwd: stage,
    packagePath: out,
    readmePath: 'client/vscode/README.md',
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function filesOf([path, ...endings]) {
  if (endings.length === 0) return [path];
  return readdirSync(path)
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => join(path, name));
}

function manifest() {
  const { bin, files, scripts, dependencies, devDependencies, overrides, ...rest } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  );
  return { ...rest, files: ['**'] };
}
