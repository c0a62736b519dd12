// Builds the named test files and the programs, and runs these tests, however long they take.
// Usage: node .ci/one.mjs NAME…   such as `chat` for test/daemon/chat.test.ts
import { spawnSync } from 'node:child_process';
import { runTestFiles } from './testFiles.mjs';

const names = process.argv.slice(2);
if (names.length === 0) end('Usage: npm run test:one -- NAME…   such as "chat" for test/daemon/chat.test.ts');
run(process.execPath, ['.ci/prepare.mjs', '--tools']);
run(process.execPath, ['esbuild.mjs', `--tests=${names}`]);
const { failed } = await runTestFiles(names.map((name) => ({ file: `.tap-build/${name}.test.mjs` })));
process.exitCode = failed === 0 ? 0 : 1;

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function end(problem) {
  console.error(problem);
  process.exit(2);
}
