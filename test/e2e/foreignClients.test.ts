import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runnerdPath } from '../support/daemonProcess.ts';
import { needs, places } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { echo, toolServerPath } from '../support/toolDaemon.ts';
import { patience } from '../support/waiting.ts';

const parts = needs('foreignClients');

/** What a client in Python prints, and what it complains of. */
async function run(folder: string, host: string, args: readonly string[]) {
  const python = join(places.foreignClients, 'bin', 'python');
  const { stdout, stderr } = await promisify(execFile)(python, [...args], {
    timeout: patience,
    env: {
      ...{ PATH: process.env['PATH'], HOME: folder, OLLAMA_HOST: host },
      ...{ XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder },
    },
  });
  return { answer: JSON.parse(stdout), stderr };
}

t.test(
  "the Python SDK of the Agent Client Protocol takes every message, a tool's call too",
  parts,
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

t.test('pytest-lsp accepts every message of the language server', parts, async (t) => {
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
