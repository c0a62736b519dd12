// Packs the npm package into a folder, with nothing that has to be fetched: the programs have their packages inside.
// libsql is native, and only runner-docs on Node before 24 loads it. So the manifest is another one than that of a
// clone, whose packages are what the programs are built of. It prints the file and its size.
// Usage: node .ci/npmPackage.mjs [FOLDER]
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runNpm } from './npm.mjs';

const folder = resolve(process.argv[2] ?? 'dist');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const kept = [
  'name',
  'description',
  'version',
  'private',
  'mcpName',
  'license',
  'type',
  'bin',
  'man',
  'files',
];
const { libsql } = manifest.dependencies;
const stage = mkdtempSync(join(tmpdir(), 'runner-npm-'));
try {
  const parts = ['README.md', 'LICENSE', ...Object.values(manifest.bin), ...manifest.files];
  for (const path of parts) cpSync(path, join(stage, path), { recursive: true });
  const own = Object.fromEntries(kept.map((key) => [key, manifest[key]]));
  const packed = { ...own, engines: { node: manifest.engines.node }, optionalDependencies: { libsql } };
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
  mkdirSync(folder, { recursive: true });
  runNpm(['pack', '--silent', '--pack-destination', folder, stage]);
} finally {
  rmSync(stage, { recursive: true, force: true });
}
const [name] = readdirSync(folder).filter((file) => file === `${manifest.name}-${manifest.version}.tgz`);
console.log(`${join(folder, name)}: ${(statSync(join(folder, name)).size / 1e6).toFixed(1)} MB`);
