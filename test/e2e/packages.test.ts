import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'));

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

// npm always packs the manifest and the programs of `bin`. Packing the tarball itself takes longer than all of this.
const folder = await temporaryFolder(t);
for (const path of ['package.json', ...Object.values(manifest.bin), ...manifest.files])
  cpSync(path, join(folder, path), { recursive: true });
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));

/** Runs a program of the package, in an environment without the user's own files. */
function run(program: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8' };
  return spawnSync(process.execPath, [join(folder, manifest.bin[program] ?? ''), ...args], {
    encoding: 'utf8',
    env,
  });
}

for (const program of Object.keys(manifest.bin))
  t.test(`${program} of the npm package reports its version`, async (t) => {
    const { stdout, stderr } = run(program, '--version');
    t.ok(stdout.includes(manifest.version), stderr);
  });

t.test('the npm package has the daemon and the pages that the terminal needs', async (t) => {
  const { status, stdout, stderr } = run('runner', 'chat', '--practice', 'What is a Modelfile?');
  t.equal(status, 0, stderr);
  t.match(stdout, 'MODELFILES.md');
});

t.test('the npm package has the workers that the document service needs', async (t) => {
  const places = ['--content', join(folder, 'docs'), '--data', join(folder, 'data')];
  const { status, stdout, stderr } = run('runner-docs', 'index', ...places);
  t.equal(status, 0, stdout + stderr);
});
