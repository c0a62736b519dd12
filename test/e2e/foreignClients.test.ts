import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runnerdPath } from '../support/daemonProcess.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { echo, toolServerPath } from '../support/toolDaemon.ts';

const cache = process.env['RUNNER_EDITOR_CACHE'] ?? join(homedir(), '.cache', 'runner-e2e');
const environment = join(cache, 'foreign-clients-1');

/** With `CI` set a missing one is an error. */
function skipWithoutClients(): false | string {
  if (existsSync(join(environment, 'done'))) return false;
  const line = 'The clients in Python are missing; get them with: .ci/foreignClients.sh';
  if (process.env['CI']) throw new Error(line);
  return line;
}

const skip = skipWithoutClients();

/** What a client in Python prints, and what it complains of. */
async function run(folder: string, host: string, args: readonly string[]) {
  const python = join(environment, 'bin', 'python');
  const { stdout, stderr } = await promisify(execFile)(python, [...args], {
    timeout: 60_000,
    env: {
      ...{ PATH: process.env['PATH'], HOME: folder, OLLAMA_HOST: host },
      ...{ XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder },
    },
  });
  return { answer: JSON.parse(stdout), stderr };
}

t.test(
  "the Python SDK of the Agent Client Protocol takes every message, a tool's call too",
  { skip },
  async (t) => {
    const runner = await startStandIn({
      models: [{ name: 'able:8b', capabilities: ['completion', 'tools', 'thinking'] }],
    });
    t.teardown(() => runner.close());
    runner.toolCalls([echo('hi')], { text: 'Let me see. ' });
    runner.think('Hm.', 'It says hi.');
    const client = resolve('test/support/acpClient.py');
    const { answer, stderr } = await run(await temporaryFolder(t), runner.url, [
      ...[client, toolServerPath, process.execPath, runnerdPath, '--acp'],
    ]);
    t.same(answer, {
      ...{ agent: 'runnerd', pickers: ['model', 'thinking'], text: 'Let me see. It says hi.' },
      statuses: ['pending', 'in_progress', 'completed'],
      asked: ['Echo (files) word=hi'],
      stopReason: 'end_turn',
    });
    t.equal(stderr, '', 'nothing that it could not read');
  },
);

t.test('pytest-lsp takes every message of the language server', { skip }, async (t) => {
  const runner = await startStandIn();
  t.teardown(() => runner.close());
  const client = resolve('test/support/lspClient.py');
  const { answer, stderr } = await run(await temporaryFolder(t), runner.url, [
    ...[client, process.execPath, runnerdPath, '--stdio'],
  ]);
  t.same(answer, {
    ...{ server: 'runnerd', hover: true, completion: true },
    diagnostics: ['temperature needs a number.'],
  });
  t.notMatch(stderr, /error|Traceback/i);
});
