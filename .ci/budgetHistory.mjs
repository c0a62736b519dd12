// Reads from git which budgets were raised without a reason.
import { spawnSync } from 'node:child_process';

/**
 * The budgets that are higher than their history explains: a commit may lower each, and raise it if a line of its
 * message begins with `Budget:`. The commit is the one that raised it; a raise that is in no commit yet has none. What
 * has no history has no raises.
 */
export function unexplainedRaises(file, budgets) {
  const explained = new Map();
  const raising = new Map();
  for (const { commit, message, changed } of historyOf(file)) {
    const isReasoned = /^Budget: *\S/m.test(message);
    for (const [row, budget] of changed) {
      const isRaise = budget > (explained.get(row) ?? budget);
      if (isRaise && !isReasoned) raising.set(row, commit);
      else {
        explained.set(row, budget);
        raising.delete(row);
      }
    }
  }
  return Object.entries(budgets)
    .map(([row, to]) => ({ row, from: explained.get(row), to, commit: raising.get(row) }))
    .filter(({ from, to }) => to > from);
}

/** The commits that changed budgets, the oldest first, each with the budgets that it set. */
function historyOf(file) {
  const format = '--format=%x00%h%x00%B%x00';
  const order = ['--reverse', '--topo-order'];
  // These options keep the user's configuration out of what git prints.
  const plain = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-show-signature'];
  // In a merge, `--cc` shows with two signs what is in none of its parents.
  const args = ['log', format, ...order, '--patch', '--cc', '--unified=0', ...plain, '--', file];
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) return [];
  const parts = stdout.split('\0').slice(1);
  return Array.from({ length: parts.length / 3 }, (_, index) => {
    const [commit, message, diff] = parts.slice(3 * index, 3 * index + 3);
    const lines = [...diff.matchAll(/^\+{1,2}\s*"([^"]+)": (\d+)/gm)];
    return { commit, message, changed: lines.map(([, row, budget]) => [row, Number(budget)]) };
  });
}
