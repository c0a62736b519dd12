// A process of the tool that judges mutants: it loads one built test file, and runs those of its tests that it is asked
// for, each by itself, as often as wanted, with any mutant turned on. So a judgement does not start a process.
// By fork only, from a tree with mutants: mutantWorker.mjs FILE MUTANT, which is on while the file is loaded
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Test } from 'tap';
import { befores, setRunning, tests } from './collectedTests.mjs';

const [, , file, active] = process.argv;
const mutants = { active, wasOn: false, reached: new Set(), note: () => undefined };
globalThis.runnerMutants = mutants;
await import(pathToFileURL(resolve(file)).href);
process.on('message', async ({ test, mutant }) => {
  Object.assign(mutants, { active: mutant, wasOn: false });
  mutants.reached.clear();
  const started = performance.now();
  const failure = await failureOf(tests[test]);
  const seconds = (performance.now() - started) / 1000;
  process.send({ answer: { failure, seconds, reached: [...mutants.reached], wasOn: mutants.wasOn } });
});
process.send({ answer: { tests: tests.map(([name]) => name), reached: [...mutants.reached] } });

/** The name of the first assertion that fails, or undefined. */
async function failureOf(args) {
  const root = new Test({ name: 'one', bail: true });
  setRunning(root);
  for (const before of befores) root.beforeEach(before);
  let output = '';
  root.on('data', (text) => {
    output += text;
  });
  const results = await root.test(...args);
  root.end();
  if ((results === null || results.ok) && root.passing()) return;
  return /^ *not ok \d+ - (.*?)(?: #.*)?$/m.exec(output)?.[1] ?? 'a test failed';
}
