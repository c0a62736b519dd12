// Packs the extension as it is built. Usage: node .ci/package.mjs [FILE.vsix]
import { spawnSync } from 'node:child_process';

const out = process.argv[2] ?? 'dist/runner.vsix';
const args = ['package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links'];
const { status } = spawnSync(
  'node_modules/.bin/vsce',
  [...args, '--readme-path', 'client/vscode/README.md', '--out', out],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
