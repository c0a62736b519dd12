// Runs npm. On Windows its command is a script of the shell, which only a shell can run, so Node runs npm itself: the
// one that runs this script or, without one, the one that came with Node.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Ends this program if npm fails. What it says goes to standard error: standard output belongs to what comes next. */
export function runNpm(args, options = {}) {
  const cli = npmCli();
  const [command, words] = cli === undefined ? ['npm', args] : [process.execPath, [cli, ...args]];
  const { status, error } = spawnSync(command, words, { ...options, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  console.error(error ? `npm could not be started: ${error.message}` : `npm ${args.join(' ')} failed.`);
  process.exit(1);
}

function npmCli() {
  const { npm_execpath: running = '' } = process.env;
  if (/npm-cli\.c?js$/.test(running)) return running;
  const folder = dirname(process.execPath);
  return [folder, join(folder, '..', 'lib')]
    .map((place) => join(place, 'node_modules', 'npm', 'bin', 'npm-cli.js'))
    .find((path) => existsSync(path));
}
