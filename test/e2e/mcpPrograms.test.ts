import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client as NewerClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewerTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { runDocs, runnerDocsPath, serveDocs } from '../support/docsProcess.ts';
import { connectClient, connectNewerClient, textOf } from '../support/mcpClients.ts';
import { runInspector } from '../support/mcpTools.ts';
import { needs } from '../support/parts.ts';
import { endedBySignal } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const files = {
  'one.md': '---\ntitle: One\ntype: guide\n---\n# First\n\nSome words.\n',
  'draft.md': '---\ndraft: true\n---\n# Draft\n\nHidden words.\n',
  'collections/book.yaml': 'docs: [one]',
};

async function places(t: Parameters<typeof temporaryFolder>[0], content: Record<string, string> = files) {
  const folder = await temporaryFolder(t, content);
  const data = join(await temporaryFolder(t), 'data');
  return { content: folder, data, args: ['--content', folder, '--data', data] };
}

const message = (id: number, method: string, params: Record<string, unknown> = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const initialize = message(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'x', version: '1' },
});
const search = (id: number) =>
  message(id, 'tools/call', { name: 'search_docs', arguments: { query: 'words' } });

t.test('an agent starts the program and reads documents', async (t) => {
  const { content, args } = await places(t);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [runnerDocsPath, 'mcp', ...args] }),
  );
  t.teardown(() => client.close());
  t.match(client.getServerCapabilities(), { resources: { listChanged: true } });
  const found = async () =>
    (await client.callTool({ name: 'search_docs', arguments: { query: 'words' } })).structuredContent;
  t.match(await poll(found, (value) => (value as { total: number }).total > 0), {
    total: 1,
    results: [{ slug: 'one' }],
  });
  const read = await client.callTool({ name: 'get_doc_markdown', arguments: { slug: 'one' } });
  t.match(read.structuredContent, { markdown: '# First\n\nSome words.\n' });
  const draft = textOf(await client.callTool({ name: 'get_doc_markdown', arguments: { slug: 'draft' } }));
  t.match(draft, { isError: true, text: /There is no document "draft"/ });

  const heard = new Promise<void>((resolve) =>
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => resolve()),
  );
  await writeFiles(content, { 'two.md': '# Two\n\nMore words.\n' });
  await heard;
  // What is heard first may be of the first look at the folder, which ended while this went on.
  const counted = await poll(found, (value) => (value as { total: number }).total === 2);
  t.match(counted, { total: 2 }, 'a change is told, and counts');

  const newer = new NewerClient(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await newer.connect(
    new NewerTransport({ command: process.execPath, args: [runnerDocsPath, 'mcp', ...args] }),
  );
  t.teardown(() => newer.close());
  const again = await newer.callTool({ name: 'search_docs', arguments: { query: 'words' } });
  t.match(again.structuredContent, { total: 2 }, 'a second process reads what the first one indexes');
  const told = new Promise<void>((resolve) =>
    newer.setNotificationHandler('notifications/resources/list_changed', () => resolve()),
  );
  const subscription = await newer.listen({ resourcesListChanged: true });
  await writeFiles(content, { 'three.md': '# Three\n' });
  await told;
  await subscription.close();
});

t.test('standard output carries only the protocol, and the program ends with its input', async (t) => {
  const { args } = await places(t, { ...files, 'bad.md': '---\ndate: x\n---\n' });
  const child = spawn(process.execPath, [runnerDocsPath, 'mcp', ...args], { stdio: 'pipe' });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  child.stdin.write(`${initialize}no JSON\n${search(2)}`);
  child.stdin.end(search(3));
  const [code] = await once(child, 'close');
  t.equal(code, 0);
  const ids = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  t.strictSame(ids.toSorted(), [1, 2, 3], 'what was asked before the end is answered');

  for (const { name, more, code, stderr } of [
    { name: 'no content', more: ['--content', '/nonexistent'], code: 1, stderr: /content folder/ },
    { name: 'a flag of serve', more: ['--port', '1'], code: 2, stderr: /--help/ },
  ]) {
    const run = await runDocs(['mcp', ...args, ...more]);
    t.match(run, { code, stderr, stdout: /^$/ }, name);
  }
});

t.test('initialize is answered within a second, however large the library is', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, at) => [
      `f${at % 40}/n${at}.md`,
      `# N${at}\n\n${'words and more of them '.repeat(1_000)}`,
    ]),
  );
  const { args } = await places(t, many);
  const child = spawn(process.execPath, [runnerDocsPath, 'mcp', ...args], { stdio: 'pipe' });
  t.teardown(() => child.kill());
  const lines = on(createInterface(child.stdout), 'line');
  const nextAnswer = async () => JSON.parse((await lines.next()).value[0]);
  const begun = performance.now();
  // Together, so that the search is there long before the index is.
  child.stdin.write(`${initialize}${search(2)}`);
  t.match(await nextAnswer(), { id: 1, result: { serverInfo: { name: 'runner-docs' } } });
  t.comment(`initialize after ${Math.round(performance.now() - begun)} ms`);
  const { isError, content, structuredContent } = (await nextAnswer()).result;
  if (isError) t.match(content, [{ text: /^The library is being read for the first time/ }]);
  else t.equal(structuredContent.total, 2_000, 'the whole library, never a part of it');
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  t.equal(code, endedBySignal, 'a signal ends it');
});

t.test('the program runs beside serve on the same data', async (t) => {
  const { content, data, args } = await places(t);
  const service = await serveDocs(args);
  t.teardown(() => service.stop());
  await service.whenReady();
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [runnerDocsPath, 'mcp', ...args] }),
  );
  t.teardown(() => client.close());
  const total = async () => {
    const { structuredContent } = await client.callTool({
      name: 'search_docs',
      arguments: { query: 'words' },
    });
    return (structuredContent as { total: number }).total;
  };
  t.equal(await total(), 1);
  await writeFiles(content, { 'two.md': '# Two\n\nMore words.\n' });
  await poll(total, (found) => found === 2);

  const url = new URL('/mcp', service.origin);
  const token = (await runDocs(['token', 'create', '--data', data])).stdout.trim();
  const older = await connectClient(t, url, token);
  const newer = await connectNewerClient(t, url, token);
  for (const one of [older, newer])
    t.match(await one.callTool({ name: 'list_collections', arguments: {} }), {
      structuredContent: { collections: [{ name: 'book', title: 'book', documents: 1 }] },
    });
  await newer.listen({ resourcesListChanged: true });
  const begun = performance.now();
  t.equal(await service.stop(), endedBySignal);
  t.ok(performance.now() - begun < 8_000, 'a client that listens does not hold up the end');
  t.notMatch(service.stderr(), token);
});

t.test('the command line of the inspector', needs('mcpTools'), async (t) => {
  const { data, args } = await places(t);
  const service = await serveDocs(args);
  t.teardown(() => service.stop());
  await service.whenReady();
  const token = (await runDocs(['token', 'create', '--data', data])).stdout.trim();
  const overHttp = [
    ...[`${service.origin}/mcp`, '--transport', 'http'],
    ...['--header', `Authorization: Bearer ${token}`],
  ];
  const overStdio = [process.execPath, runnerDocsPath, 'mcp', ...args];
  const call = (name: string, ...given: readonly string[]) => [
    ...['--method', 'tools/call', '--tool-name', name],
    ...given.flatMap((one) => ['--tool-arg', one]),
  ];
  const servers = { http: overHttp, stdio: overStdio };
  const both = ['http', 'stdio'] as const;
  const cases: readonly {
    readonly name: string;
    readonly args: readonly string[];
    readonly want: RegExp;
    readonly transports?: readonly (keyof typeof servers)[];
  }[] = [
    {
      name: 'tools',
      args: ['--method', 'tools/list'],
      want: /search_docs[\s\S]*list_collections/,
      transports: both,
    },
    { name: 'a search', args: call('search_docs', 'query=words', 'limit=5'), want: /"slug": ?\\?"one/ },
    { name: 'a document', args: call('get_doc_markdown', 'slug=one'), want: /Some words/, transports: both },
    { name: 'resources', args: ['--method', 'resources/list'], want: /docs:\/\/collection\/book/ },
    {
      name: 'a resource',
      args: ['--method', 'resources/read', '--uri', 'docs://doc/one'],
      want: /Some words/,
    },
    { name: 'prompts', args: ['--method', 'prompts/list'], want: /answer_from_docs/ },
  ];
  const runs = cases.flatMap(({ transports = ['http' as const], ...one }) =>
    transports.map((transport) => ({ ...one, transport })),
  );
  const outputs = await runInspector(runs.map((run) => [...servers[run.transport], ...run.args]));
  for (const [at, { name, transport, want }] of runs.entries())
    t.match(outputs[at], want, `${name} over ${transport}`);
});
