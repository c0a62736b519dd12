// Judges mutants by the tests of one built test file, all in one process (`mutantWorker.mjs`), which is made anew when
// a mutant keeps it busy or ends it. So thousands of mutants can be judged.
import { fork } from 'node:child_process';
import { join } from 'node:path';

/** How long a test may take without a mutant, and at least with one, in seconds. */
const [longest, patience] = [300, 6];

/**
 * @param {{ file: string, cwd: string, env: NodeJS.ProcessEnv }} options
 * `probe` runs each test without a mutant, and notes what it reaches; `judge` runs those that reach a mutant, the quick
 * ones first, and returns the name of the one that fails; `end` ends the process.
 */
export function createMutantLane(options) {
  let worker;
  let tests = [];
  const run = async ({ index, seconds = 0 }, mutant, limit = patience + 6 * seconds) => {
    worker ??= await startWorker(options, 'none');
    if (worker === undefined) return { failure: 'the process ended' };
    const answer = await worker.ask({ test: index, mutant }, limit);
    if (answer.ended) worker = undefined;
    return answer;
  };
  const end = () => {
    worker?.end();
    worker = undefined;
  };
  /** What a mutant left behind in the process proves nothing: then the test fails without one as well. */
  const isKilledAnew = async (test, mutant) => {
    if ((await run(test, 'none')).failure === undefined) return true;
    end();
    if ((await run(test, 'none')).failure === undefined)
      return (await run(test, mutant.id)).failure !== undefined;
    // It needs a test before it.
    tests = tests.filter((other) => other !== test);
    return false;
  };
  return {
    async probe() {
      worker = await startWorker(options, 'probe');
      if (worker === undefined) return false;
      const { tests: names, reached: atStart } = worker;
      for (const [index, name] of names.entries()) {
        const { failure, seconds, reached } = await run({ index }, 'probe', longest);
        if (failure !== undefined) console.log(`left out: ${options.file}: ${name}, which fails: ${failure}`);
        else tests.push({ index, name, seconds, reached: new Set([...reached, ...atStart]) });
      }
      tests = tests.sort((one, other) => one.seconds - other.seconds);
      return true;
    },
    reaches: (mutant) => tests.some(({ reached }) => reached.has(mutant.id)),
    /** @param {number} seconds after which no other test begins */
    async judge(mutant, seconds) {
      let isKept = true;
      const until = Date.now() + seconds * 1000;
      for (const test of tests.filter(({ reached }) => reached.has(mutant.id))) {
        if (Date.now() > until) return;
        const { failure, wasOn } = await run(test, mutant.id);
        // What is computed once, as constants are, is as it was.
        if (failure === undefined && !wasOn) {
          isKept = false;
          break;
        }
        if (failure !== undefined && (await isKilledAnew(test, mutant))) return `${test.name}: ${failure}`;
      }
      return isKept ? undefined : judgeFromStart(mutant, until);
    },
    end,
  };

  async function judgeFromStart(mutant, until) {
    end();
    worker = await startWorker(options, mutant.id);
    try {
      if (worker === undefined) return 'the file does not load';
      for (const test of tests) {
        if (Date.now() > until) return;
        const { failure } = await run(test, mutant.id);
        if (failure === undefined) continue;
        end();
        if ((await run(test, 'none')).failure === undefined) return `${test.name}: ${failure}`;
        tests = tests.filter((other) => other !== test);
        end();
        worker = await startWorker(options, mutant.id);
      }
    } finally {
      end();
    }
  }
}

/** Undefined if the file cannot be loaded. */
async function startWorker({ file, cwd, env }, active) {
  const child = fork(join('.ci', 'mutantWorker.mjs'), [file, active], {
    ...{ cwd, env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], detached: true },
  });
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      return;
    }
  };
  const next = (seconds) =>
    new Promise((resolve) => {
      const settle = ({ answer }) => {
        // tap sends messages of its own.
        if (answer === undefined) return;
        clearTimeout(timer);
        child.off('message', settle).off('exit', ended);
        resolve(answer);
      };
      const ended = () => settle({ answer: { ended: true, failure: 'the process ended' } });
      const timer = setTimeout(() => {
        end();
        settle({ answer: { ended: true, failure: 'took too long' } });
      }, seconds * 1000);
      child.on('message', settle).on('exit', ended);
    });
  const { tests, reached } = await next(60);
  if (tests === undefined) return end();
  return {
    ...{ tests, reached, end },
    ask(question, seconds) {
      if (child.exitCode !== null || !child.connected) return { ended: true, failure: 'the process ended' };
      // A process that is just ending takes no question; its end is the answer.
      child.send(question, () => undefined);
      return next(seconds);
    },
  };
}
