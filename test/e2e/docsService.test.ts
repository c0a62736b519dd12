import { once } from 'node:events';
import { chmodSync, cpSync, readdirSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { callDocs } from '../support/docsCommand.ts';
import { runDocs, runnerDocsPath, serveDocs } from '../support/docsProcess.ts';
import { needs, places } from '../support/parts.ts';
import { endedBySignal, isModeOf, where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const files = {
  'one.md': '---\ntitle: One\ntype: guide\n---\nSome words.\n',
  'draft.md': '---\ndraft: true\n---\n# Draft\n',
  'collections/book.yaml': 'docs: [one]',
};

t.test('a whole session, from the first command to the last', async (t) => {
  const content = await temporaryFolder(t, files);
  const data = join(await temporaryFolder(t), 'data');
  const places = ['--content', content, '--data', data];
  const created = await runDocs(['token', 'create', '--data', data]);
  t.match(created, { code: 0, stdout: /^rdocs_[\w-]{43}\n$/, stderr: '' }, 'the token and nothing else');
  const token = created.stdout.trim();
  t.ok(isModeOf(data, 0o700), 'the data is for its owner alone');

  const metricsPort = await freePort();
  const started = Date.now();
  const service = await serveDocs([...places, '--metrics-port', String(metricsPort)]);
  t.teardown(() => service.stop());
  t.strictSame(await service.whenReady(), { documents: 1, problems: 0, warnings: 0 });
  t.match(await (await service.get('/api/v1/docs', token)).json(), { items: [{ slug: 'one' }], total: 1 });
  const pdf = Buffer.from(await (await service.get('/api/v1/docs/one.pdf', token)).arrayBuffer());
  t.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  const epub = Buffer.from(await (await service.get('/api/v1/collections/book.epub', token)).arrayBuffer());
  t.equal(epub.subarray(0, 2).toString(), 'PK');

  t.equal((await service.get('/nowhere', token)).status, 404);
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  t.match(metrics, /runner_docs_requests_total\{route="none",status="404"\} 1/);
  t.match(metrics, /runner_docs_requests_total\{route="\/api\/v1\/docs",status="200"\} 1/);
  t.match(metrics, /runner_docs_documents 1\n/);
  const spent = [...metrics.matchAll(/^runner_docs_request_seconds_sum\{.*\} (\S+)$/gm)].map(([, sum]) =>
    Number(sum),
  );
  const most = (spent.length * (Date.now() - started)) / 1_000;
  t.ok(
    spent.length > 3 && spent.every((sum) => sum > 0) && spent.reduce((all, one) => all + one) < most,
    'in seconds',
  );
  t.notMatch(metrics, /"one"|docs\/one/, 'no document is named');

  const second = await callDocs(['serve', '--port', '0', ...places]);
  t.match(second, {
    code: 1,
    stderr: new RegExp(`process ${service.child.pid} already serves from ${data}`),
  });
  t.match(await callDocs(['index', ...places]), { code: 1, stderr: /is updating the index/ });

  await writeFiles(content, {
    'two.md': '---\ndate: 2026/01/02\n---\n# Two',
    'bad.md': Uint8Array.of(0xff),
  });
  const ready = await poll(
    () => fetch(`${service.origin}/readyz`).then((one) => one.json()),
    ({ documents }) => documents === 2,
  );
  t.strictSame(ready, { documents: 2, problems: 1, warnings: 1 });
  t.match(await runDocs(['doctor', ...places]), {
    code: 1,
    stdout: /PROBLEM {2}bad\.md: .*UTF-8.*\nwarning {2}two\.md:2: "date" was read as 2026-01-02/,
  });
  t.match(service.stderr(), /bad\.md: .*UTF-8/, 'and the log says so too');
  t.match(service.stderr(), /two\.md:2: /);

  const backup = join(data, '..', 'backup.db');
  t.match(await runDocs(['backup', backup, '--data', data]), { code: 0 });
  t.ok(isModeOf(backup, 0o600));
  t.match(await callDocs(['backup', backup, '--data', data]), { code: 1, stderr: /exists already/ });

  const list = await runDocs(['token', 'list', '--data', data]);
  const id = /^[0-9a-f]{12}/m.exec(list.stdout)?.[0] ?? '';
  t.notMatch(list.stdout, token, 'no token in the list');
  t.match(await runDocs(['token', 'revoke', id, '--data', data]), { code: 0 });
  await poll(
    () => service.get('/api/v1/docs', token),
    ({ status }) => status === 401,
  );
  t.match(await callDocs(['token', 'revoke', id, '--data', data]), {
    code: 1,
    stderr: /no token with the id/,
  });

  t.equal(await service.stop(), endedBySignal);
  t.notMatch(service.stderr() + service.stdout(), token);
  t.match(await runDocs(['index', ...places]), { code: 0, stdout: '2 documents, 1 problem, 1 warning\n' });
  for (const name of readdirSync(data)) t.notMatch(name, /\.part$/);
  const again = await serveDocs(places);
  t.teardown(() => again.stop());
  await poll(
    async () => again.stderr(),
    (log) => /The library has 2 documents, and 1 problem and 1 warning, which/.test(log),
  );
});

t.test('a service that is treated badly', async (t) => {
  const content = await temporaryFolder(t, {
    ...files,
    'long.md': `# Long\n\n${'Many words in a row. '.repeat(1_000)}`,
  });
  const data = await temporaryFolder(t);
  const service = await serveDocs(['--content', content, '--data', data]);
  t.teardown(() => service.stop());
  const token = (await runDocs(['token', 'create', '--data', data])).stdout.trim();
  await service.whenReady();
  const { hostname, port } = new URL(service.origin);
  const open = () => connect(Number(port), hostname);

  t.test('answers input that is not HTTP with a problem', async (t) => {
    for (const [request, want] of [
      ['nonsense\r\n\r\n', /^HTTP\/1\.1 400 .*problem\+json.*"status":400/s],
      [`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, /^HTTP\/1\.1 431 .*"status":431/s],
    ] as const) {
      const socket = open();
      socket.write(request);
      let answer = '';
      socket.setEncoding('utf8').on('data', (text) => (answer += text));
      await once(socket, 'close');
      t.match(answer, want);
    }
  });

  t.test('goes on when nobody reads its log', async () => {
    service.child.stderr?.destroy();
    const ready = () => fetch(`${service.origin}/readyz`).then((answer) => answer.json());
    await writeFiles(content, { 'bad.md': Uint8Array.of(0xff), 'two.md': '# Two' });
    await poll(ready, ({ documents, problems }) => documents === 3 && problems === 1);
    await writeFiles(content, { 'worse.md': Uint8Array.of(0xff) });
    await poll(ready, ({ problems }) => problems === 2);
  });

  t.test('finishes answers in progress when it ends', where('signals'), async (t) => {
    // What makes a PDF has started, so the next one is ready within the time that an end leaves.
    t.equal((await service.get('/api/v1/docs/one.pdf', token)).status, 200);
    const socket = open();
    socket.write(
      `GET /api/v1/docs/long.pdf HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    let answer = '';
    socket.setEncoding('latin1').on('data', (text) => (answer += text));
    // An answer to a later request on another connection says that the first one has arrived.
    await (await service.get('/api/v1/docs', token)).json();
    const stopped = service.stop();
    await once(socket, 'close');
    t.match(answer, /^HTTP\/1\.1 200 OK/);
    t.match(answer, /%%EOF\s*$/);
    t.equal(await stopped, 0);
  });
});

t.test('a folder with other files is refused as the data folder', where('modes'), async (t) => {
  const shared = await temporaryFolder(t, { 'other.txt': 'x' });
  chmodSync(shared, 0o755);
  t.match(await callDocs(['token', 'create', '--data', shared]), {
    code: 1,
    stderr: /Choose a folder of its own/,
  });
  t.equal(statSync(shared).mode & 0o777, 0o755, 'and its modes stay');
  const file = join(shared, 'other.txt');
  t.match(await callDocs(['token', 'create', '--data', file]), { code: 1, stderr: /is a file/ });
  const damaged = await temporaryFolder(t, {
    'access.db': 'no database at all, but long enough to look like one'.repeat(200),
  });
  t.match(await callDocs(['token', 'list', '--data', damaged]), { code: 1, stderr: /access\.db is damaged/ });
});

t.test('what is public is named at the start, and when that changes', async (t) => {
  const open = {
    'collections/book.yaml': 'public: true\ndocs: [one]',
    'collections/all.yaml': 'docs: [one]',
  };
  const content = await temporaryFolder(t, { ...files, ...open });
  const service = await serveDocs(['--content', content, '--data', join(await temporaryFolder(t), 'data')]);
  t.teardown(() => service.stop());
  const says = (text: string) =>
    poll(
      async () => service.stderr(),
      (log) => log.includes(text),
    );
  t.match(
    await says('Everyone may read'),
    'Everyone may read the collection \\"book\\" (1 document), without signing in.',
  );
  t.match(await (await fetch(`${service.origin}/read/one`)).text(), 'Some words.');
  t.equal((await fetch(`${service.origin}/api/v1/docs`)).status, 401);
  await writeFiles(content, { 'collections/book.yaml': 'docs: [one]' });
  await says('Nothing is public any more.');
});

/** Copies the program to another place, and asks it there for a document and its PDF. */
async function tryMoved(t: Test, node: string, modules: readonly string[]): Promise<void> {
  const folder = await temporaryFolder(t, { 'content/one.md': '# One ─ → ✓\n\n```\nκώδικας\n```\n' });
  cpSync(runnerDocsPath, join(folder, 'runner-docs.cjs'));
  cpSync(join(runnerDocsPath, '../docs-service'), join(folder, 'docs-service'), { recursive: true });
  const places = ['--content', join(folder, 'content'), '--data', join(folder, 'data')];
  const program = join(folder, 'runner-docs.cjs');
  for (const name of modules)
    cpSync(join('node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  const options = { node, program };
  const service = await serveDocs(places, options);
  const token = (await runDocs(['token', 'create', '--data', join(folder, 'data')], options)).stdout.trim();
  await service.whenReady();
  const answers = [
    await service.get('/api/v1/docs?q=one', token),
    await service.get('/api/v1/docs/one.pdf', token),
  ];
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.equal(await service.stop(), endedBySignal);
  t.notMatch(service.stderr(), /Warning/, 'no warning of an experiment');
}

t.test('the program can be moved with the folder beside it: on Node 24 that is all', needs('node24'), (t) =>
  tryMoved(t, places.node24, []),
);

t.test('the program can be moved: before Node 24 it needs the package libsql', (t) =>
  tryMoved(t, process.execPath, ['libsql', '@libsql', '@neon-rs']),
);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
