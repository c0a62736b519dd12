// Stands in for tap in a test file whose tests are run one by one, as `mutantWorker.mjs` does: they are only noted.
import { t as root } from 'tap';

/** What `t.test` was called with in the file itself. */
export const tests = [];
/** What runs before each. */
export const befores = [];

let running = root;

/** Where a test asserts that uses the file's `t` instead of its own. */
export function setRunning(test) {
  running = test;
}

const noted = {
  test: (...args) => void tests.push(args),
  beforeEach: (before) => void befores.push(before),
};

/**
 * What a test file has instead of `t`.
 * @public
 */
export const collected = new Proxy(root, {
  get: (_, key) =>
    noted[key] ?? (typeof running[key] === 'function' ? running[key].bind(running) : running[key]),
});
