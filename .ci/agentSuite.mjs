// Puts the twelve tasks of the coding agent to two scripted models, in two windows, over ACP, in the terminal and in
// Neovim, and prints what each cost. With --record, the figures are those that continuous integration compares with.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const file = join(tmpdir(), `runner-agent-suite-${process.pid}.json`);
writeFileSync(file, '{}');
const env = { ...process.env, RUNNER_AGENT_FIGURES: file };
const { status } = spawnSync(process.execPath, ['.ci/one.mjs', 'agentSuite'], { env, stdio: 'inherit' });
const figures = Object.entries(JSON.parse(readFileSync(file, 'utf8')));
const rows = figures.map(([name, cost]) => [...name.split(' '), ...cost]);
for (const [task, ...row] of [
  ['task', 'client', 'model', 'window', 'rounds', 'largest prompt', 'tokens'],
  ...rows,
])
  console.log([task.padEnd(5), ...row.map((cell) => String(cell).padStart(15))].join(''));
console.log(`${figures.length} trials have succeeded.`);
if (process.argv.includes('--record')) {
  const lines = figures.map(([name, cost]) => `  ${JSON.stringify(name)}: [${cost.join(', ')}]`);
  writeFileSync('test/fixtures/agentSuite.json', `{\n${lines.join(',\n')}\n}\n`);
}
process.exitCode = status ?? 1;
