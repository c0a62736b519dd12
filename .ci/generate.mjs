// Writes every file that is made from something else: the tables of settings, VS Code's manifest, Neovim's list, the
// manual pages, docs/protocol, and docs/PERFORMANCE.md with its pictures. Tests only compare.
// Usage: node .ci/generate.mjs
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const outfile = join('node_modules', '.runner', 'generatedFiles.mjs');
await build({
  entryPoints: ['.ci/generatedFiles.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
});
const { generatedFiles } = await import(pathToFileURL(outfile));
for (const { path, generate } of generatedFiles) {
  const now = readFileSync(path, 'utf8');
  const made = generate(now);
  if (made === now) continue;
  writeFileSync(path, made);
  console.log(`wrote ${path}`);
}
const { status } = spawnSync(process.execPath, ['.ci/performance.mjs'], { stdio: 'inherit' });
process.exitCode = status ?? 1;
