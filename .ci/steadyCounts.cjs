// Node loads this before each program whose functions are counted, so that the same request always gives the same
// counts. What a program does by the clock, or once it is told to end, belongs to no request and happens in another
// order each time; and a pipe cuts messages anywhere.
const v8 = require('node:v8');
const { isMainThread } = require('node:worker_threads');

const program = /[\w-]+\.cjs$/.exec(process.argv[1])?.[0];
if (program === 'runner-docs.cjs') {
  globalThis.setInterval = () => setTimeout(() => undefined, 2 ** 30).unref();
  if (isMainThread) process.once('SIGTERM', stopCounting);
}
if (program === 'runnerd.cjs' && isMainThread) readByteByByte(process.stdin);

function stopCounting() {
  v8.takeCoverage();
  v8.stopCoverage();
}

/** The counting stops before the daemon reads that it is to shut down. */
function readByteByByte(input) {
  const { push } = input;
  input.push = (chunk) => {
    if (chunk === null) return push.call(input, null);
    if (chunk.includes('"method":"shutdown"')) stopCounting();
    let takesMore = true;
    for (let at = 0; at < chunk.length; at++) takesMore = push.call(input, chunk.subarray(at, at + 1));
    return takesMore;
  };
}
