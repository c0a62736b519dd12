import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { agentEntry, agents } from '../../docs-service/commands/connect.ts';
import { callDocs } from '../support/docsCommand.ts';
import { runnerDocsPath } from '../support/docsProcess.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { patience } from '../support/waiting.ts';

const page = readFileSync('docs/AGENTS.md', 'utf8');

/** Fenced blocks by what stands behind their fence; those in `sh` run. */
function blocksOf(kind: string): readonly string[] {
  return [...page.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === kind)
    .map(([, , block = '']) => block);
}

const usual = { kind: 'http', url: 'http://127.0.0.1:4000/mcp' } as const;

t.test('each entry in AGENTS.md is what connect prints', async (t) => {
  for (const agent of agents) {
    const [entry, ...more] = blocksOf(`entry ${agent}`);
    t.strictSame(more, []);
    const { code, stdout, stderr } = await callDocs(['connect', agent]);
    t.equal(code, 0, stderr);
    t.equal(stdout, entry, agent);
    t.ok(stderr.length > 40, 'and standard error says what to do with it');
    t.match(page, `runner-docs connect ${agent} --stdio`);
  }
});

t.test('each entry with a token adds a header to the plain entry, and contains no token', async (t) => {
  for (const agent of ['cursor', 'zed', 'vscode'] as const) {
    const [block = ''] = blocksOf(`token ${agent}`);
    const { inputs, ...read } = JSON.parse(block);
    const [[, servers]] = Object.entries<Record<string, { headers?: Record<string, string> }>>(read) as [
      [string, Record<string, { headers?: Record<string, string> }>],
    ];
    const { headers, ...rest } = servers['runner-docs'] ?? {};
    t.match(
      headers?.['Authorization'],
      /^Bearer (\$\{(env:RUNNER_DOCS_TOKEN|input:runner-docs-token)\}|rdocs_…)$/,
    );
    const [key = ''] = Object.keys(read);
    t.strictSame({ [key]: { 'runner-docs': rest } }, JSON.parse(agentEntry(agent, usual).entry), agent);
  }
  t.match(JSON.parse(blocksOf('token claude')[0] ?? ''), {
    mcpServers: { 'runner-docs': { type: 'http', url: usual.url } },
  });
  const [codex = ''] = blocksOf('token codex');
  t.equal(codex, `${agentEntry('codex', usual).entry}\nbearer_token_env_var = "RUNNER_DOCS_TOKEN"\n`);
  t.notMatch(page, /rdocs_\w/);
});

t.test('the commands in AGENTS.md run', where('sh'), async (t) => {
  const folder = await temporaryFolder(t, {
    'bin/runner-docs': `#!/bin/sh\nexec "${process.execPath}" "${runnerDocsPath}" "$@"\n`,
  });
  chmodSync(join(folder, 'bin/runner-docs'), 0o755);
  mkdirSync(join(folder, 'content'));
  const run = (script: string, input = '') =>
    spawnSync('sh', ['-eu', '-c', script], {
      cwd: folder,
      env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: folder },
      encoding: 'utf8',
      timeout: patience,
      input,
    });
  const [setPassword = '', ...others] = blocksOf('').filter((block) => block.startsWith('runner-docs'));
  t.equal(others.length, 1);
  const set = run(setPassword, 'a password of some length\n');
  t.equal(set.status, 0, set.stderr);
  const blocks = blocksOf('sh');
  t.ok(blocks.length > 2, 'the page has blocks that run');
  const { status, stdout, stderr } = run(blocks.join('\n'));
  t.equal(status, 0, stderr);
  t.match(stdout, /claude mcp add --transport http runner-docs http:\/\/127\.0\.0\.1:4000\/mcp/);
  t.match(stdout, /url = "https:\/\/docs\.example\.org\/mcp"/);
  t.match(stdout, /^rdocs_[\w-]+$/m, 'a token');
  t.match(stdout, /claude-code-client-metadata +added +Claude Code +http:\/\/localhost\/callback/);
  t.match(stdout, /codex\/client\.json/);
});

t.test('connect --stdio prints absolute paths', where('sh'), async (t) => {
  const folder = await temporaryFolder(t, { "it's a folder/one.md": '# One' });
  const content = join(folder, "it's a folder");
  const places = ['--content', content, '--data', join(folder, 'data')];
  const want = [runnerDocsPath, 'mcp', '--content', resolve(content), '--data', join(folder, 'data')];
  for (const agent of agents) {
    const { code, stdout, stderr } = await callDocs(['connect', agent, '--stdio', ...places]);
    t.equal(code, 0, stderr);
    t.notMatch(stderr, 'There is no folder');
    if (agent === 'claude') {
      const words = spawnSync('sh', ['-c', `claude() { printf '%s\\n' "$@"; }\n${stdout}`], {
        encoding: 'utf8',
      });
      t.strictSame(words.stdout.trim().split('\n'), [
        'mcp',
        'add',
        'runner-docs',
        '--',
        process.execPath,
        ...want,
      ]);
    } else if (agent === 'codex') {
      t.match(
        stdout,
        `command = ${JSON.stringify(process.execPath)}\nargs = [${want.map((one) => JSON.stringify(one)).join(', ')}]\n`,
      );
    } else {
      const [servers] = Object.values<Record<string, unknown>>(JSON.parse(stdout));
      t.match(servers?.['runner-docs'], { command: process.execPath, args: want });
    }
  }
  const missing = await callDocs(['connect', 'zed', '--stdio', '--content', join(folder, 'nowhere')]);
  t.match(missing, { code: 0, stderr: /There is no folder .*nowhere\. Name yours with --content/ });
});

t.test('connect refuses unknown agents', async (t) => {
  t.match(await callDocs(['connect', 'emacs']), {
    code: 2,
    stdout: '',
    stderr: /the agents are claude, cursor, vscode/,
  });
  t.match(await callDocs(['connect']), { code: 2, stdout: '' });
  const below = await callDocs(['connect', 'codex', '--base-url', 'http://docs.localhost:4000']);
  t.match(below.stdout, 'http://docs.localhost:4000/mcp', 'a name below localhost is this machine');
  const http = await callDocs(['connect', 'codex', '--base-url', 'http://docs.example.org']);
  t.match(http, { code: 2, stdout: '', stderr: /must begin with https/ });
});

t.test('special characters in a path stay inside the entry', async () => {
  const path = fc.string({ unit: 'grapheme', maxLength: 40 });
  fc.assert(
    fc.property(path, (text) => {
      const reach = { kind: 'stdio', command: '/usr/bin/node', args: [text] } as const;
      const { mcpServers } = JSON.parse(agentEntry('cursor', reach).entry);
      const lines = agentEntry('codex', reach).entry.split('\n');
      // Line ends of Unicode may stand in the text, and a dot alone matches none of them.
      const [, value = ''] = /^args = \[(.*)\]$/s.exec(lines[2] ?? '') ?? [];
      return mcpServers['runner-docs'].args[0] === text && lines.length === 3 && JSON.parse(value) === text;
    }),
  );
});
