import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Test } from 'tap';
import t from 'tap';
import { Catalog, type CatalogOptions } from '../../daemon/catalog/catalog.ts';
import { readPieces } from '../../daemon/catalog/ollamaLibrary.ts';
import { cloudRequest, libraryRequest } from '../../protocol/messages/models.ts';
import { startDaemonWithRunner } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import { isModeOf } from '../support/systems.ts';

const hour = 60 * 60 * 1_000;
const timeouts = { connect: 1_000, list: 5_000, firstByte: 5_000, idle: 5_000 };
const { signal } = new AbortController();
const html = 'text/html; charset=utf-8';
const json = 'application/json';

/** In the shape of the real page, with what pages have that gets in the way. */
const realPage = `<!DOCTYPE html>
<html class="h-full"><head><meta charset="utf-8"><title>library <a href="/library/in-title"></title>
<style>.x::after { content: '<a href="/library/in-style">' }</style>
<script>const seen = '<a href="/library/in-script"><p>no</p></a>';</script></head>
<body><nav><a href="/">Home</a><a href="/library">Models</a><a href="/library/qwen3/tags">Tags</a>
<a href="/search?q=library/nothing">Search</a><a href="https://elsewhere.example/library/foreign">Else</a>
<a href="//elsewhere.example/library/foreign">Else</a><a href="javascript:/library/scheme">No</a>
<a href="http://[/library/broken">No</a><a>No</a></nav>
<!-- <a href="/library/in-comment"></a> -->
<ul role="list" class="grid grid-cols-1">
<li x-test-model class="flex border-b"><a href="/library/qwen3" class="group w-full space-y-5">
  <div title="qwen3"><h2 class="truncate"><span x-test-search-response-title>qwen3</span></h2>
  <p class="max-w-lg break-words">The <b>latest</b> generation
     of&nbsp;large <script>var no = 1</script>models &amp; more: 1 &lt; 2&#x1F600;\u0007</p></div>
  <div class="flex"><div class="flex flex-wrap space-x-2">
    <span x-test-capability class="bg-indigo-50">tools</span><span x-test-capability>think<b>ing</b></span>
    <span x-test-capability>tools</span><span x-test-size>0.6b</span><span class="z" x-test-size="">8b</span></div>
  <p class="my-1"><svg><path d="M1 1" /></svg><span x-test-pull-count>9M</span> Pulls</p></div>
</a></li>
<LI><A HREF='http://CATALOG/library/gpt-oss'><P>Open weights<SPAN X-TEST-SIZE>20b</SPAN></P></A>
<li><a href=/library/unclosed><p>Not closed <span x-test-capability>vision
<li><a href="library/relative"></a>
<a href="/library/qwen3"><p>Another text</p></a>
<a href="/library/bare?sort=new#top">x</a><a href="/library/with:tag">x</a><a href="/library/-bad">x</a>
<a href="/library/slash/">x</a><a href="/library/a/b">x</a><a href="/library/%2e%2e">x</a>
</ul></body></html>`;

const cloudAnswer = JSON.stringify({
  models: [
    { name: 'gpt-oss:120b', size: 1, details: { parameter_size: '120B' }, capabilities: ['tools', 7] },
    { name: 'glm-4.6', details: { parameter_size: '' }, capabilities: 'tools' },
    { name: 'kimi-k2:1t-cloud' },
    { name: 'minimax:cloud' },
    { name: 'my-cloud', description: 'A plain\u0000 name\u202e' },
    { name: '../bad' },
    { name: 'http://evil.example/a/b' },
    { name: 3 },
    'plain:1b',
    null,
  ],
});

interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  body: string;
}

type Respond = (response: ServerResponse) => void;

/** A catalog on loopback that records all that it is asked, also by other servers of this file. */
const everything: Recorded[] = [];
const server = { library: page(realPage), cloud: answer(json, cloudAnswer), count: 0, closed: 0 };
const listener = createServer((request, response) => {
  const { method = '', url = '', headers } = request;
  const recorded: Recorded = { method, url, headers, body: '' };
  everything.push(recorded);
  request.setEncoding('utf8').on('data', (text: string) => {
    recorded.body += text;
  });
  server.count += 1;
  response.on('close', () => {
    if (!response.writableFinished) server.closed += 1;
    listener.emit('gone');
  });
  if (url.endsWith('/library')) server.library(response);
  else if (url.endsWith('/api/tags')) server.cloud(response);
  else answer('text/plain', 'no such page', 404)(response);
  listener.emit('asked');
});

function answer(type: string | undefined, body: string, status = 200): Respond {
  return (response) => {
    if (type !== undefined) response.setHeader('content-type', type);
    response.writeHead(status).end(body);
  };
}

function page(body: string, type = html): Respond {
  return answer(type, body);
}

listener.listen(0, '127.0.0.1');
await once(listener, 'listening');
const address = listener.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;

t.beforeEach(() => {
  server.library = page(realPage.replace('CATALOG', new URL(url).host));
  server.cloud = answer(json, cloudAnswer);
  server.count = 0;
  server.closed = 0;
});
t.teardown(() => {
  listener.close();
  listener.closeAllConnections();
});

interface CatalogSetup extends Partial<Omit<CatalogOptions, 'settings'>> {
  catalogUrl?: string;
  cacheDir?: string;
}

/** With a clock and settings to turn. Silent; what is said is in `said`. */
function open(t: Test, { catalogUrl = url, cacheDir, ...options }: CatalogSetup = {}) {
  const said: string[] = [];
  const say = (message: string) => said.push(message);
  const turn = { catalogUrl, cacheDir, time: Date.parse('2027-01-15T08:00:00.000Z') };
  const catalog = new Catalog({
    settings: () => ({
      catalogUrl: turn.catalogUrl,
      timeouts,
      ...(turn.cacheDir === undefined ? {} : { cacheDir: turn.cacheDir }),
    }),
    headersFor: async () => ({}),
    now: () => turn.time,
    log: { debug: say, info: say, warn: say, error: say },
    ...options,
  });
  t.teardown(() => catalog.close());
  return Object.assign(catalog, { turn, said });
}

const none = { installed: [] };

async function waitUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await Promise.race([once(listener, 'asked'), once(listener, 'gone')]);
}

t.test('the library is read from its page', async (t) => {
  const catalog = open(t, { catalogUrl: `${url}/` });
  const result = await catalog.library({ installed: ['library/QWEN3:4b', 'user/gpt-oss:20b'] }, signal);
  t.strictSame(result, {
    fetchedAt: '2027-01-15T08:00:00.000Z',
    entries: [
      {
        name: 'qwen3',
        description: 'The latest generation of large models & more: 1 < 2😀',
        capabilities: ['tools', 'thinking'],
        sizes: ['0.6b', '8b'],
        model: 'qwen3',
        url: `${url}/library/qwen3`,
        family: 'qwen',
        installed: true,
      },
      {
        name: 'gpt-oss',
        description: 'Open weights20b',
        sizes: ['20b'],
        model: 'gpt-oss',
        url: `${url}/library/gpt-oss`,
        family: 'gpt-oss',
        installed: false,
      },
      {
        name: 'unclosed',
        description: 'Not closed vision',
        capabilities: ['vision'],
        model: 'unclosed',
        url: `${url}/library/unclosed`,
        family: 'unclosed',
        installed: false,
      },
      ...['relative', 'bare'].map((name) => ({
        name,
        model: name,
        url: `${url}/library/${name}`,
        family: name,
        installed: false,
      })),
    ],
  });
  const later = await catalog.library({ installed: ['bare'] }, signal);
  t.strictSame(
    later.entries.filter(({ installed }) => installed).map(({ name }) => name),
    ['bare'],
  );
  t.equal(server.count, 1);
});

t.test('cloud models are pulled by their name with the suffix', async (t) => {
  const { entries } = await open(t).cloud(
    { installed: ['gpt-oss:20b', 'PLAIN:1b-cloud', 'glm-4.6:cloud'] },
    signal,
  );
  t.strictSame(
    entries.map(({ name, model, url: link, installed }) => [name, model, link.slice(url.length), installed]),
    [
      ['gpt-oss:120b', 'gpt-oss:120b-cloud', '/library/gpt-oss', false],
      ['glm-4.6', 'glm-4.6:cloud', '/library/glm-4.6', true],
      ['kimi-k2:1t-cloud', 'kimi-k2:1t-cloud', '/library/kimi-k2', false],
      ['minimax:cloud', 'minimax:cloud', '/library/minimax', false],
      ['my-cloud', 'my-cloud:cloud', '/library/my-cloud', false],
      ['plain:1b', 'plain:1b-cloud', '/library/plain', true],
    ],
  );
  t.strictSame([entries[0]?.sizes, entries[0]?.capabilities], [['120B'], ['tools']]);
  t.notOk(entries[1] && ('sizes' in entries[1] || 'capabilities' in entries[1]));
  t.equal(entries[4]?.description, 'A plain name');
});

t.test('every word of a query must occur', async (t) => {
  const catalog = open(t);
  const cases = [
    { query: '', want: ['qwen3', 'gpt-oss', 'unclosed', 'relative', 'bare'] },
    { query: 'latest Think', want: ['qwen3'] },
    { query: 'latest vision', want: [] },
    { query: 'oss weights', want: ['gpt-oss'] },
  ];
  for (const { query, want } of cases) {
    const { entries } = await catalog.library({ ...none, query }, signal);
    t.strictSame(
      entries.map(({ name }) => name),
      want,
      JSON.stringify(query),
    );
  }
});

t.test('the content type says how an answer is read', async (t) => {
  const list = JSON.stringify({
    models: [{ name: 'a' }, { name: 'b:1b', description: 'x', sizes: ['1b', 2] }],
  });
  const shortPage = '\n<ul><a href="/library/a"></a><a href="/library/b"></a></ul>';
  const cases: readonly { kind: 'library' | 'cloud'; type?: string; body: string; want?: string }[] = [
    { kind: 'library', type: 'Text/HTML; charset=utf-8', body: shortPage, want: 'a b' },
    { kind: 'library', body: shortPage, want: 'a b' },
    { kind: 'library', type: json, body: shortPage },
    { kind: 'library', type: 'TEXT/html', body: list },
    { kind: 'library', type: json, body: `\ufeff${list}`, want: 'a b:1b' },
    { kind: 'library', type: 'text/plain', body: list, want: 'a b:1b' },
    { kind: 'library', body: '["a", "b", 3, "../c"]', want: 'a b' },
    { kind: 'library', type: json, body: '[{"name":"a"},{"model":"b"}]', want: 'a' },
    { kind: 'library', type: 'text/plain', body: 'nothing' },
    { kind: 'library', type: html, body: '<p>Sign in to the network</p>' },
    { kind: 'library', type: html, body: '' },
    { kind: 'cloud', type: 'Text/HTML; charset=utf-8', body: list },
    { kind: 'cloud', body: shortPage },
    { kind: 'cloud', body: list, want: 'a b:1b' },
    { kind: 'cloud', type: json, body: '{"models":null}', want: '' },
    { kind: 'cloud', type: json, body: '{"models":[{"name":""}]}' },
    { kind: 'cloud', type: json, body: '{"models":[{"name":"a"' },
    { kind: 'cloud', type: json, body: '"a"' },
    { kind: 'cloud', type: json, body: '['.repeat(1_000_000) },
  ];
  for (const { kind, type, body, want } of cases) {
    const name = `${kind} ${type} ${body.slice(0, 30)}`;
    server[kind] = answer(type, body);
    const result = open(t)[kind](none, signal);
    if (want === undefined) await t.rejects(result, failsWith({ kind: 'bad-response' }), name);
    else t.equal((await result).entries.map((entry) => entry.name).join(' '), want, name);
  }
});

t.test('listed models are bounded and cleaned', async (t) => {
  const links = Array.from({ length: 6_000 }, (_, at) => `<a href="/library/m${at}">`).join('');
  const marks = Array.from({ length: 30 }, (_, at) => `<i x-test-size>${at}b</i>`).join('');
  const first = `<a href="/library/m0"><p>${'é😀'.repeat(400)}</p>${marks}<i x-test-capability>${'x'.repeat(33)}</i></a>`;
  server.library = page(first + links);
  const { entries } = await open(t).library(none, signal);
  t.equal(entries.length, 5_000);
  t.equal(entries[0]?.description, 'é😀'.repeat(166) + 'é');
  t.equal(entries[0]?.sizes?.length, 20);
  t.notOk(entries[0] && 'capabilities' in entries[0]);
  // Of one model over and over, which fill the page before another.
  const repeated = (times: number) => `${'<a href="/library/a">'.repeat(times)}<a href="/library/last">`;
  for (const [times, names] of [
    [19_999, ['a', 'last']],
    [20_000, ['a']],
  ] as const) {
    server.library = page(repeated(times));
    const { entries } = await open(t).library(none, signal);
    t.strictSame(
      entries.map(({ name }) => name),
      names,
      `${times} before another`,
    );
  }
  server.cloud = answer(json, JSON.stringify(Array.from({ length: 30_000 }, (_, at) => `m${at}`)));
  t.equal((await open(t).cloud(none, signal)).entries.length, 5_000);
});

t.test('failures are described as those of a catalog', async (t) => {
  const moved: Respond = (response) => response.writeHead(302, { location: `${url}/other/library` }).end();
  const cases: readonly { name: string; respond: Respond; want: string; says: RegExp }[] = [
    { name: '404', respond: answer('text/plain', 'no', 404), want: 'not-supported', says: /404.*catalogUrl/ },
    { name: '404 page', respond: answer(html, '<p>no', 404), want: 'bad-response', says: /catalogUrl/ },
    { name: '500', respond: answer(json, '{"error":"oh"}', 500), want: 'runner-failed', says: /500/ },
    { name: '401', respond: answer(json, '{}', 401), want: 'unauthorized', says: /token/ },
    { name: '429', respond: answer(json, '{}', 429), want: 'busy', says: /in a moment/ },
    { name: 'redirect', respond: moved, want: 'bad-response', says: /redirect.*catalogUrl/ },
    {
      name: 'hang-up',
      respond: (response) => response.destroy(),
      want: 'server-unreachable',
      says: /network/,
    },
  ];
  for (const { name, respond, want, says } of cases) {
    server.library = server.cloud = respond;
    const before = server.count;
    for (const kind of ['library', 'cloud'] as const) {
      const error = await open(t)
        [kind](none, signal)
        .catch((thrown) => thrown);
      t.match(error, { kind: want, message: says }, `${kind} ${name}`);
      t.match(error.message, `The model catalog at ${url} `, `${name} names the address`);
      t.notOk('server' in error.data, `${name} names no server`);
      t.notMatch(error.message, /ollama serve|runner address/, name);
    }
    t.equal(server.count, before + 2, `${name}: asked once each`);
  }
  for (const catalogUrl of ['http://127.0.0.1:9', 'http://127.0.0.1:9/prefix']) {
    await t.rejects(
      open(t, { catalogUrl }).library(none, signal),
      failsWith({
        kind: 'server-unreachable',
        message: `The model catalog at ${catalogUrl} cannot be reached. Check the network, or set runner.catalogUrl; installed models work without it.`,
      }),
    );
  }
  await t.rejects(
    open(t, { catalogUrl: 'ollama' }).cloud(none, signal),
    failsWith({ kind: 'server-unreachable', message: /not an address/ }),
  );
});

t.test('a page of 50 MB is not read to its end', async (t) => {
  const piece = '<a href="/library/x">'.padEnd(1024 * 1024);
  let sent = 0;
  server.library = server.cloud = (response) => {
    const send = () => {
      while (sent < 50 && !response.destroyed) {
        sent += 1;
        if (!response.write(piece)) return response.once('drain', send);
      }
      return response.end();
    };
    response.setHeader('content-type', html);
    send();
  };
  for (const kind of ['library', 'cloud'] as const) {
    sent = 0;
    await t.rejects(open(t)[kind](none, signal), failsWith({ kind: 'bad-response' }), kind);
    t.ok(sent < 50, `${sent} MB were sent`);
  }
});

t.test('an answer that never ends is a timeout, or gives the last known listing', async (t) => {
  const catalog = open(t, { deadline: 150 });
  const forever: Respond = (response) => {
    response.setHeader('content-type', html);
    const timer = setInterval(() => response.write('<a href="/library/x">'), 5);
    response.on('close', () => clearInterval(timer));
  };
  const silent: Respond = () => undefined;
  for (const respond of [forever, silent]) {
    server.library = respond;
    const before = server.closed;
    await t.rejects(
      catalog.library(none, signal),
      failsWith({ kind: 'timeout', message: /took too long.*Check the network/ }),
    );
    await waitUntil(() => server.closed > before);
  }
  await t.rejects(
    open(t, { deadline: 20, headersFor: () => new Promise(() => undefined) }).library(none, signal),
    failsWith({ kind: 'timeout' }),
  );
  server.library = page(realPage);
  await catalog.library(none, signal);
  server.library = forever;
  t.equal((await catalog.library({ ...none, refresh: true }, signal)).stale, true);
});

t.test('a listing is fresh for an hour', async (t) => {
  const catalog = open(t);
  const { turn } = catalog;
  const asked = async (refresh = false) => {
    const before = server.count;
    const result = await catalog.cloud({ ...none, refresh }, signal);
    return { requests: server.count - before, ...(result.stale ? { stale: true } : {}) };
  };
  t.strictSame(await asked(), { requests: 1 });
  turn.time += hour - 1;
  t.strictSame(await asked(), { requests: 0 });
  const leaving = new AbortController();
  const left = catalog.cloud(none, leaving.signal);
  leaving.abort();
  await t.rejects(left, { name: 'AbortError' }, 'who has left gets not even a fresh one');
  turn.time += 1;
  t.strictSame(await asked(), { requests: 1 });
  t.strictSame(await asked(true), { requests: 1 }, 'refresh');
  turn.time -= 10;
  t.strictSame(await asked(), { requests: 1 }, 'a listing of the future is not fresh');
  const before = server.count;
  t.notOk((await catalog.cloud({ ...none, cached: true }, signal)).stale);
  turn.time += hour;
  t.equal((await catalog.cloud({ ...none, cached: true }, signal)).stale, true, 'the one that is kept');
  turn.time -= hour;
  await t.rejects(
    catalog.library({ ...none, cached: true }, signal),
    failsWith({ kind: 'server-unreachable', message: /is kept yet/ }),
  );
  t.equal(server.count, before, 'no catalog is asked');
  server.cloud = answer(html, '<p>Sign in');
  t.strictSame(await asked(), { requests: 0 });
  turn.time += 1000 * hour;
  t.strictSame(await asked(), { requests: 1, stale: true }, 'however old');
  t.equal((await catalog.cloud(none, signal)).fetchedAt, new Date(turn.time - 1000 * hour).toISOString());
});

t.test('a listing is kept on disk for the next start', async (t) => {
  const cacheDir = join(t.testdir(), 'new', 'folder');
  const first = open(t, { cacheDir });
  const [library, cloud] = [await first.library(none, signal), await first.cloud(none, signal)];
  await first.close();
  const hash = createHash('sha256').update(url).digest('hex').slice(0, 16);
  const names = [`catalog-cloud-${hash}.json`, `catalog-library-${hash}.json`];
  t.strictSame(readdirSync(cacheDir).sort(), names, 'and nothing else');
  t.ok(isModeOf(cacheDir, 0o700));
  for (const name of names) t.ok(isModeOf(join(cacheDir, name), 0o600), name);

  server.count = 0;
  const second = open(t, { cacheDir });
  t.strictSame(await second.library(none, signal), library);
  t.strictSame(await second.cloud(none, signal), cloud);
  t.equal(server.count, 0);

  server.library = answer('text/plain', 'oh', 500);
  const third = open(t, { cacheDir });
  third.turn.time += 2 * hour;
  t.strictSame(await third.library(none, signal), { ...library, stale: true });
  t.match(third.said.join('\n'), /model catalog at/);
  const other = open(t, { cacheDir, catalogUrl: `${url}/prefix` });
  await t.rejects(other.library(none, signal), failsWith({ kind: 'bad-response' }), 'another address');
});

t.test('a cache file that Runner did not write is ignored, and replaced', async (t) => {
  const cacheDir = t.testdir();
  const hash = createHash('sha256').update(url).digest('hex').slice(0, 16);
  const file = join(cacheDir, `catalog-cloud-${hash}.json`);
  const fetchedAt = Date.parse('2027-01-15T07:59:00.000Z');
  const models = [{ name: 'kept', description: 'x\u0000y'.repeat(400) }, { name: '../bad' }];
  const broken = [
    '',
    '{',
    'null',
    '[]',
    JSON.stringify({ base: url, fetchedAt: 'now', models }),
    JSON.stringify({ base: url, fetchedAt: 1e20, models }),
    JSON.stringify({ base: 'http://other', fetchedAt, models }),
    JSON.stringify({ base: url, fetchedAt, models: [{ name: 1 }] }),
    JSON.stringify({ base: url, fetchedAt, models }).padEnd(8 * 1024 * 1024 + 1),
  ];
  for (const text of broken) {
    writeFileSync(file, text);
    server.count = 0;
    t.equal((await open(t, { cacheDir }).cloud(none, signal)).entries.length, 6, text.slice(0, 60));
    t.equal(server.count, 1);
    t.match(JSON.parse(readFileSync(file, 'utf8')), { base: url });
  }
  writeFileSync(file, JSON.stringify({ base: url, fetchedAt, models, more: 1 }));
  const { entries } = await open(t, { cacheDir }).cloud(none, signal);
  t.strictSame(
    entries.map(({ name, url: link }) => [name, link]),
    [['kept', `${url}/library/kept`]],
  );
  t.equal(entries[0]?.description, 'xy'.repeat(250));
});

t.test('a folder that cannot be written is not an error', async (t) => {
  const folder = t.testdir({ file: 'in the way' });
  const cacheDir = join(folder, 'file');
  const catalog = open(t, { cacheDir });
  t.equal((await catalog.cloud(none, signal)).entries.length, 6);
  t.match(catalog.said.join('\n'), /not kept/);
  const hash = createHash('sha256').update(url).digest('hex').slice(0, 16);
  const taken = join(folder, 'taken');
  mkdirSync(join(taken, `catalog-cloud-${hash}.json`), { recursive: true });
  t.equal((await open(t, { cacheDir: taken }).cloud(none, signal)).entries.length, 6);
  t.strictSame(readdirSync(taken), [`catalog-cloud-${hash}.json`], 'no part is left behind');
});

t.test('callers share a request, and each aborts only its own wait', async (t) => {
  const catalog = open(t);
  const responses: ServerResponse[] = [];
  server.library = (response) => responses.push(response);
  const aborts = [new AbortController(), new AbortController()] as const;
  const first = catalog.library(none, aborts[0].signal);
  const second = catalog.library(none, aborts[1].signal);
  await waitUntil(() => responses.length === 1);
  aborts[0].abort();
  await t.rejects(first, { name: 'AbortError' });
  const third = catalog.library({ ...none, refresh: true, query: 'qwen' }, signal);
  page(realPage)(responses[0] as ServerResponse);
  t.ok((await second).entries.length);
  t.equal((await third).entries.length, 1);
  t.equal(server.count, 1);

  const last = new AbortController();
  const reason = new Error('enough');
  const alone = catalog.library({ ...none, refresh: true }, last.signal);
  await waitUntil(() => responses.length === 2);
  last.abort(reason);
  await t.rejects(alone, reason, 'thrown as it is, and never stale');
  await waitUntil(() => server.closed === 1);
  await t.rejects(catalog.library(none, AbortSignal.abort()), { name: 'AbortError' });

  server.library = page(realPage);
  t.notOk((await catalog.library({ ...none, refresh: true }, signal)).stale, 'the next one begins anew');
});

t.test('closing aborts running requests', async (t) => {
  const catalog = open(t);
  server.library = () => undefined;
  const call = catalog.library(none, signal);
  await waitUntil(() => server.count === 1);
  const rejected = t.rejects(call, { name: 'AbortError' });
  await catalog.close();
  await rejected;
  await waitUntil(() => server.closed === 1);
  await t.rejects(catalog.cloud(none, signal), { name: 'AbortError' });
});

t.test('each address has its own listing', async (t) => {
  const catalog = open(t);
  const responses: ServerResponse[] = [];
  server.cloud = (response) => responses.push(response);
  const first = catalog.cloud(none, signal);
  await waitUntil(() => responses.length === 1);
  catalog.turn.catalogUrl = `${url}/prefix/`;
  server.cloud = answer(json, '{"models":[{"name":"other"}]}');
  const second = await catalog.cloud(none, signal);
  t.strictSame(
    second.entries.map(({ url: link }) => link),
    [`${url}/prefix/library/other`],
  );
  t.equal(everything.at(-1)?.url, '/prefix/api/tags');
  answer(json, cloudAnswer)(responses[0] as ServerResponse);
  t.equal((await first).entries.length, 6);
  catalog.turn.catalogUrl = url;
  t.equal((await catalog.cloud(none, signal)).entries.length, 6);
  t.equal(server.count, 2);
});

t.test('a library may have a path prefix', async (t) => {
  server.library = page('<a href="/prefix/library/a"></a><a href="/library/b"></a><a href="library/c"></a>');
  const { entries } = await open(t, { catalogUrl: `${url}/prefix/` }).library(none, signal);
  t.strictSame(
    entries.map(({ url: link }) => link),
    ['a', 'b', 'c'].map((name) => `${url}/prefix/library/${name}`),
  );
});

t.test('headers are looked up by address', async (t) => {
  const asked: string[] = [];
  const headersFor = async (base: string) => {
    asked.push(base);
    return { authorization: 'Bearer t' };
  };
  const catalog = open(t, { headersFor, catalogUrl: url.replace('//', '//user:pass@') });
  const { entries } = await catalog.library(none, signal);
  t.strictSame(asked, [url]);
  t.equal(everything.at(-1)?.headers.authorization, 'Bearer t');
  t.notMatch(JSON.stringify(entries), 'pass');
});

t.test('a page gives the same models in any pieces, and never throws', async (t) => {
  const read = (pieces: readonly string[]) => readPieces(pieces, 'http://h/library', signal);
  const whole = await read([realPage]);
  t.strictSame(
    whole.map(({ name }) => name),
    ['qwen3', 'unclosed', 'relative', 'bare'],
  );
  t.strictSame(await read([...realPage]), whole, 'sign by sign');
  const tags =
    '</a> <p> </p> <li> <svg> </svg> </i> <!-- --> <![CDATA[ ]]> <script> </script> <style> <br/> <form>';
  const bits = [
    ...[
      '<a href="/library/x">',
      '<a href=',
      '<i x-test-size>',
      ...tags.split(' '),
      '</',
      '<',
      '>',
      '/library/y',
    ],
    ...['"', "'", '&amp;', '&#x', '&', ' ', 'é😀', '\0', '\ud800'],
  ];
  const arbitraryPage = fc
    .array(fc.oneof(fc.constantFrom(...bits), fc.string()), { maxLength: 40 })
    .map((parts) => `<a href="/library/first"><p>${parts.join('')}`);
  await fc.assert(
    fc.asyncProperty(arbitraryPage, fc.array(fc.nat(200), { maxLength: 8 }), async (text, cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), text.length];
      const pieces = at.slice(1).map((end, index) => text.slice(at[index], Math.max(end, at[index] ?? 0)));
      assert.deepEqual(await read(pieces.filter(Boolean)), await read([text]));
    }),
    { numRuns: 150 },
  );
});

t.test('reading stops on a hostile page, and keeps what was read', async (t) => {
  const read = (text: string) => readPieces([text], 'http://h/library', signal);
  const deep = `<a href="/library/a"><p>text</p></a>${'<div>'.repeat(1_500)}<a href="/library/b">`;
  t.strictSame(await read(deep), [{ name: 'a', description: 'text' }]);
  const aborted = new AbortController();
  aborted.abort();
  await t.rejects(readPieces(['x'], 'http://h/library', aborted.signal), { name: 'AbortError' });
});

t.test('over the wire: installed models are marked, and a runner that is down hides nothing', async (t) => {
  const models = [{ name: 'qwen3:4b' }, { name: 'my-secret-model:7b' }, { name: 'gpt-oss:120b-cloud' }];
  const { runner, daemon } = await startDaemonWithRunner(t, { catalogUrl: url }, { standIn: { models } });
  const { entries, fetchedAt } = await daemon.request(libraryRequest, {});
  t.match(fetchedAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  t.strictSame(
    entries.filter(({ installed }) => installed).map(({ name }) => name),
    ['qwen3', 'gpt-oss'],
  );
  const cloud = await daemon.request(cloudRequest, { query: 'OSS tools' });
  t.match(cloud.entries, [
    { name: 'gpt-oss:120b', model: 'gpt-oss:120b-cloud', installed: true, family: 'gpt-oss' },
  ]);
  await runner.close();
  t.ok((await daemon.request(libraryRequest, { refresh: true })).entries.length > 3);
  const hanging = await startDaemonWithRunner(t, { catalogUrl: url, timeouts: { list: 600_000 } });
  hanging.runner.on('/api/tags', 9).hang();
  t.ok((await hanging.daemon.request(libraryRequest, {})).entries.length > 3, 'nor does one that hangs');
  for (const [params, path] of [
    [{ query: 3 }, 'query'],
    [{ refresh: 'yes' }, 'refresh'],
    [{ cached: 1 }, 'cached'],
    [{ server: 'other' }, 'server'],
  ] as const) {
    const asked = daemon.connection.sendRequest(libraryRequest.method, params);
    await t.rejects(asked, failsWith({ code: -32602, data: { path } }), path);
  }
  server.library = answer(html, 'no', 500);
  const other = await startDaemonWithRunner(t, { catalogUrl: url });
  await t.rejects(
    other.daemon.request(libraryRequest, {}),
    failsWith({ code: -33008, data: { kind: 'bad-response' } }),
  );
});

t.test('no request says anything about the user', async (t) => {
  const catalog = open(t, { cacheDir: t.testdir() });
  const query = { query: 'my-secret-query', installed: ['my-secret-model:7b', 'hf.co/my/secret'] };
  for (const refresh of [false, true]) {
    await catalog.library({ ...query, refresh }, signal);
    await catalog.cloud({ ...query, refresh }, signal);
  }
  server.library = server.cloud = answer(html, 'no', 500);
  await catalog.library({ ...query, refresh: true }, signal);
  await catalog.cloud({ ...query, refresh: true }, signal);
  t.ok(everything.length > 50, `${everything.length} requests were recorded`);
  t.strictSame(
    [...new Set(everything.map(({ method, url: path, body }) => `${method} ${path}${body}`))].sort(),
    ['GET /api/tags', 'GET /library', 'GET /prefix/api/tags', 'GET /prefix/library'],
  );
  const allowed = ['accept', 'authorization', 'connection', 'host'];
  t.strictSame([...new Set(everything.flatMap(({ headers }) => Object.keys(headers)))].sort(), allowed);
  t.notMatch(JSON.stringify(everything), /secret|qwen|oss/i);
  t.notMatch(catalog.said.join('\n'), /secret/);
});
