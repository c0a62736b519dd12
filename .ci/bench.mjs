// Runs the benchmarks one after another. Usage: node .ci/bench.mjs [name [what the benchmark itself takes]]
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const [wanted = '', ...given] = process.argv.slice(2);
const files = readdirSync('.tap-build').filter(
  (file) => file.endsWith('.bench.mjs') && file.startsWith(wanted),
);
if (files.length === 0) console.error(`There is no benchmark "${wanted}".`);
const failed = files.filter(
  (file) =>
    spawnSync(process.execPath, [join('.tap-build', file), ...given], { stdio: 'inherit' }).status !== 0,
);
process.exitCode = failed.length === 0 && files.length > 0 ? 0 : 1;
