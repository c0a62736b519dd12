// Packs the extension as it is built. Usage: node .ci/package.mjs [FILE.vsix]
// vsce packs the folder that it runs in, and `files` of our package.json names what the npm package holds. So what the
// extension needs is copied into a folder of its own, with a manifest without the keys for npm.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Files, or all files of a folder with these endings. */
const parts = [
  ['dist/extension.cjs'],
  ['dist/languageClient.cjs'],
  ['dist/runnerd.cjs'],
  ['dist/runnerd', '.cjs'],
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
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links'];
  const { status } = spawnSync(
    resolve('node_modules/.bin/vsce'),
    [...args, '--readme-path', 'client/vscode/README.md', '--out', out],
    { cwd: stage, stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
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
