import { Worker } from 'node:worker_threads';

/** After so many ms the process has started, and a thread more slows nothing that somebody waits for. */
const startAfter = 1_000;
/** Between two beats, and between two looks at them, in ms. */
const beatEvery = 500;
/** Looks without a beat after which the process is stuck: 8 seconds, far more than any work here takes at a stretch. */
const stuckAfter = 16;
/** The same where the process that started this one is gone: 2 seconds. */
const orphanedAfter = 4;

/**
 * Ends the process when it has been busy for so long that it can hear neither a signal nor the end of its input. Node
 * tells signals to the main thread alone, so the watch counts looks of its own: a process that was stopped and goes on
 * has missed a single one.
 */
export function startWatchdog(): void {
  // Whoever stops at a breakpoint is not stuck.
  if (process.execArgv.some((argument) => argument.startsWith('--inspect'))) return;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  setTimeout(() => {
    setInterval(() => Atomics.add(beats, 0, 1), beatEvery).unref();
    const worker = new Worker(watch, {
      eval: true,
      workerData: { beats, beatEvery, stuckAfter, orphanedAfter, parent: process.ppid },
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 8, stackSizeMb: 1 },
    });
    // Without a watch the daemon works as well.
    worker.on('error', () => undefined);
    worker.unref();
  }, startAfter).unref();
}

/** A text, so that it is in the bundle that starts it. */
const watch = `
  const { beats, beatEvery, stuckAfter, orphanedAfter, parent } = require('node:worker_threads').workerData;
  let last = -1;
  let missed = 0;
  setInterval(() => {
    const now = Atomics.load(beats, 0);
    missed = now === last ? missed + 1 : 0;
    last = now;
    if (missed >= stuckAfter || (missed >= orphanedAfter && process.ppid !== parent)) process.kill(process.pid, 'SIGKILL');
  }, beatEvery);
`;
