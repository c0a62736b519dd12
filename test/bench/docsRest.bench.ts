// Requests a second of the document service beside a bare route of Fastify with an answer of the same bytes, both in
// processes of their own, in turns.
// Usage: node .tap-build/docsRest.bench.mjs [--documents N]
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { runDocs, serveDocs } from '../support/docsProcess.ts';
import { createFigures, median } from './figures.ts';

const { section, row } = createFigures('docsRest');

const { values } = parseArgs({ options: { documents: { type: 'string', default: '2000' } } });
const documents = Number(values.documents);
/** Milliseconds of each measurement. */
const span = 1_500;
const rounds = 5;
const connections = 16;

const folder = await mkdtemp(join(tmpdir(), 'runner-docs-bench-'));
await mkdir(join(folder, 'content'));
for (let at = 0; at < documents; at++) await writeFile(join(folder, 'content', `n${at}.md`), documentOf(at));

const data = join(folder, 'data');
const begun = performance.now();
const service = await serveDocs([
  '--content',
  join(folder, 'content'),
  '--data',
  data,
  '--limit-requests',
  '1000000',
]);
await service.whenReady();
section(`The document service with ${documents} documents`);
row('from the start to the whole index', `${((performance.now() - begun) / 1_000).toFixed(1)} s`);
const token = (await runDocs(['token', 'create', '--data', data])).stdout.trim();
const headers = { authorization: `Bearer ${token}` };
const body = await (await service.get('/api/v1/docs', token)).text();
const bare = await startBare(body);

const cases: readonly { name: string; path: string; extra?: Record<string, string> }[] = [
  { name: 'list', path: '/api/v1/docs' },
  {
    name: 'list, 304',
    path: '/api/v1/docs',
    extra: { 'if-none-match': (await service.get('/api/v1/docs', token)).headers.get('etag') ?? '' },
  },
  { name: 'one document', path: '/api/v1/docs/n7' },
  { name: 'search, asked before', path: '/api/v1/docs?q=alpha' },
];
section(
  `Requests a second, ${connections} connections, median of ${rounds}, beside a bare Fastify route of ${body.length} bytes`,
);
for (const { name, path, extra = {} } of cases) {
  const own: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < rounds; round++) {
    floor.push(await rate(bare.origin, '/', {}));
    own.push(await rate(service.origin, path, { ...headers, ...extra }));
  }
  const ratio = median(own) / median(floor);
  row(
    name,
    `${median(own).toFixed(0)} a second, bare ${median(floor).toFixed(0)}: ${ratio.toFixed(2)} of the bare route`,
    {
      plot: {
        unit: 'requests a second',
        bars: { 'a bare Fastify route': median(floor), 'runner-docs': median(own) },
      },
    },
  );
}

bare.close();
await service.stop();
await rm(folder, { recursive: true });

async function rate(origin: string, path: string, requestHeaders: Record<string, string>): Promise<number> {
  const pool = new Pool(origin, { connections });
  const end = performance.now() + span;
  let done = 0;
  const work = async () => {
    while (performance.now() < end) {
      const { body: answer } = await pool.request({ method: 'GET', path, headers: requestHeaders });
      await answer.dump();
      done++;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  await pool.close();
  return (done * 1_000) / span;
}

async function startBare(answer: string): Promise<{ readonly origin: string; close(): void }> {
  const script = `import fastify from 'fastify'; const body = JSON.parse(process.argv[1]); const app = fastify();
app.get('/', async () => body); console.log(await app.listen({ port: 0 }));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, answer], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const origin = await new Promise<string>((resolve) =>
    child.stdout.once('data', (text) => resolve(String(text).trim())),
  );
  return { origin: origin.replace('[::1]', '127.0.0.1'), close: () => void child.kill() };
}

function documentOf(at: number): string {
  const words = Array.from({ length: 380 }, (_, place) =>
    place % 9 === 0 ? 'alpha' : `word${(at * 31 + place * 17) % 5_000}`,
  );
  return `---\ntitle: Document ${at}\ntype: ${at % 3 === 0 ? 'guide' : 'note'}\ntags: [t${at % 20}]\ndate: ${2000 + (at % 26)}-01-01\n---\n# Document ${at}\n\n${words.join(' ')}\n`;
}
