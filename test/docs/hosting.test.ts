import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { parse as parseYaml } from 'yaml';
import { type OptionSpecs, parseOptions } from '../../docs-service/base/options.ts';
import { commands } from '../../docs-service/cli/program.ts';
import { parseCollectionFile } from '../../docs-service/content/collectionFile.ts';
import { parseDocumentFile } from '../../docs-service/content/documentFile.ts';
import { parseServeConfig, serveOptions } from '../../docs-service/serveConfig.ts';
import { type DocsService, runDocs, runnerDocsPath, serveDocs } from '../support/docsProcess.ts';
import { needs } from '../support/parts.ts';
import { has } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { patience, poll } from '../support/waiting.ts';

const page = readFileSync('docs/DOCUMENTS.md', 'utf8');
const hosting = 'docs-service/hosting';
const fileOf = (name: string) => readFileSync(join(hosting, name), 'utf8');

/** Fenced blocks of the page by their language; those in `sh` run, those without a language are only to be read. */
function blocksOf(language: string): readonly string[] {
  return [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === language)
    .map(([, , block = '']) => block);
}

/** The first cells of the rows below a head, without their backquotes, and the other cells. */
function tableBelow(head: string): readonly (readonly string[])[] {
  const [, rows = ''] = page.split(`${head}\n`, 2);
  const [table = ''] = rows.split('\n\n', 1);
  return table
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.replace(/^\||\|$/g, '').split('|'));
}

const plain = (cell = '') => cell.replaceAll('`', '').trim();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

t.test(
  'the commands of the page run, one after the other, against a real service',
  needs('curl', 'bash'),
  async (t) => {
    const folder = await temporaryFolder(t, {
      'bin/runner-docs': `#!/bin/sh\nexec "${process.execPath}" "${runnerDocsPath}" "$@"\n`,
      // So that an error is one.
      '.curlrc': 'fail-with-body\nsilent\nshow-error\n',
    });
    chmodSync(join(folder, 'bin/runner-docs'), 0o755);
    const run = (script: string) =>
      spawnSync('bash', ['--norc', '-eu', '-o', 'pipefail', '-c', script], {
        cwd: folder,
        env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: folder },
        encoding: 'utf8',
        timeout: patience,
      });
    const [first = '', ...others] = blocksOf('sh');
    t.ok(others.length > 3, 'the page has blocks that run');
    t.match(run(first), { status: 0, stderr: '' }, first);
    const places = ['--content', join(folder, 'content'), '--data', join(folder, 'data')];
    const service = await serveDocs(places);
    t.teardown(() => service.stop());
    t.strictSame(await service.whenReady(), { documents: 2, problems: 0, warnings: 0 });

    const { status, stdout, stderr } = run(others.map((block, at) => `echo "## ${at}"\n${block}`).join('\n'));
    const script = others.join('\n');
    t.ok(script.includes('http://127.0.0.1:4000'), 'the page asks at the usual address');
    t.not(status, 0, 'where nothing answers, the commands fail');
    const asked = run(
      others
        .map((block, at) => `echo "## ${at}"\n${block}`)
        .join('\n')
        .replaceAll('http://127.0.0.1:4000', service.origin),
    );
    t.equal(asked.status, 0, `${asked.stdout.slice(-2_000)}${asked.stderr}`);
    t.match(asked.stdout, /"items":\[\{"slug":"welcome"/, 'a list');
    t.match(
      asked.stdout,
      /\nID +NAME +SCOPES .*\n\w+ +laptop +read draft +https:\/\/ada\.example\//,
      'the tokens',
    );
    t.match(asked.stdout, /<a href="[^"]*\/manual\.html"/, 'a link to the other document');
    for (const [file, bytes] of Object.entries({
      'welcome.pdf': '%PDF-',
      'book.epub': 'PK',
      beginning: '%PDF-',
    }))
      t.equal(readFileSync(join(folder, file)).toString('latin1', 0, bytes.length), bytes, file);
    t.equal(readFileSync(join(folder, 'beginning')).length, 100);
    t.match(await runDocs(['doctor', ...places]), { code: 0, stdout: /2 documents can be read/ });

    await service.stop();
    await runDocs(['token', 'create', '--data', join(folder, 'data'), '--me', 'https://later.example/']);
    const restore = 'cd data && rm -f access.db access.db-wal access.db-shm && cp ../tokens.db access.db';
    t.match(page, /delete `access\.db`, `access\.db-wal` and `access\.db-shm`/);
    t.equal(run(restore).status, 0);
    const restored = await runDocs(['token', 'list', '--data', join(folder, 'data')]);
    t.match(restored, { code: 0, stdout: /ada\.example/ });
    t.notMatch(restored.stdout, /later\.example/, 'a backup restored as the page says is what it was');
    t.notOk(stdout.includes('rdocs_') || stderr.includes('rdocs_'), 'no token was shown');
  },
);

let opened: Promise<DocsService> | undefined;

/** One that serves this project's own pages, for all tests that need only some service. */
function openSample(): Promise<DocsService> {
  opened ??= serveDocs(['--sample']);
  return opened;
}

t.teardown(async () => (await opened)?.stop());

/** What it prints once it is ready. */
async function invitationOf(service: DocsService): Promise<string> {
  return poll(
    async () => service.stdout(),
    (text) => text.includes('Ctrl-C') && text.includes('Bearer '),
  );
}

t.test('npm run docs serves these pages, and nothing is wrong with them', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  t.match(scripts.docs, /node dist\/runner-docs\.cjs serve --sample$/);
  const service = await openSample();
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  t.strictSame(await service.whenReady(), { documents: pages.length, problems: 0, warnings: 0 });
  const [, token = ''] = /(?:TOKEN=|Bearer )([\w-]+)/.exec(await invitationOf(service)) ?? [];
  const pdf = await service.get('/api/v1/docs/documents.pdf', token);
  t.equal(Buffer.from(await pdf.arrayBuffer()).toString('latin1', 0, 5), '%PDF-');
});

t.test('the commands that serve --sample prints run', needs('bash', 'curl'), async (t) => {
  const invitation = await invitationOf(await openSample());
  const token = /TOKEN=(\S+)/.exec(invitation)?.[1] ?? '';
  const commands = invitation.match(/^ {2}curl .*$/gm) ?? [];
  t.equal(commands.length, 4);
  const folder = await temporaryFolder(t);
  for (const command of commands) {
    const asked = `${command} --fail-with-body --silent --show-error`;
    const env = { ...process.env, TOKEN: token };
    const { status, stderr } = spawnSync('bash', ['-c', asked], { cwd: folder, env, encoding: 'utf8' });
    t.equal(status, 0, `${command}\n${stderr}`);
  }
  t.strictSame(readdirSync(folder).sort(), ['chat.pdf', 'handbook.epub']);
});

t.test("the page's examples of front matter", async (t) => {
  const rows = tableBelow('| key | type | default | example |');
  const document = (text: string) =>
    parseDocumentFile('some/File name.md', Buffer.from(text), {
      now: Date.parse('2026-12-24'),
      future: false,
    });
  const { path, body, contentHash, ...known } = document('').document;
  t.strictSame(rows.map(([key]) => plain(key)).sort(), Object.keys(known).sort(), 'every key, and no other');
  for (const [key, , , example = ''] of rows) {
    const { document: read, warnings } = document(`---\n${plain(example)}\n---\n`);
    t.strictSame(warnings, [], example);
    const value = Object.entries(read).find(([name]) => name === plain(key))?.[1];
    const left = Object.entries(known).find(([name]) => name === plain(key))?.[1];
    t.notSame(value, left, `${example} says something`);
  }
  const [, welcome = ''] = /<<'END'\n(.*?)^END$/ms.exec(page) ?? [];
  t.match(document(welcome), { warnings: [], document: { title: 'Welcome', date: '2026-11-21' } });
  t.match(document(welcome).document.tags, [{ slug: 'getting-started' }]);
  t.match(document('').document, { slug: 'file-name' });
});

t.test("the page's examples of collections", async (t) => {
  const keys = tableBelow('| key | meaning | default |').map(([key]) => plain(key));
  const [example = ''] = blocksOf('yaml');
  const { collection, problem } = parseCollectionFile('collections/a.yaml', Buffer.from(example));
  t.equal(problem, null);
  t.strictSame(
    [...keys].sort(),
    [...Object.keys(collection), 'query', 'path', 'summary', 'public'].sort(),
    'every key, and no other',
  );
  const others = ['docs', 'path', 'summary'];
  t.strictSame(Object.keys(parseYaml(example)).sort(), keys.filter((key) => !others.includes(key)).sort());
  t.notOk(Object.values(collection).includes(null), 'each key of the example says something');
});

t.test('the table of flags is complete and correct', async (t) => {
  const rows = tableBelow('| flag | variable | meaning | default |').map((row) => row.map(plain));
  const wanted = Object.entries(serveOptions as OptionSpecs).map(([name, { value, help, multiple }]) => ({
    flag: value === undefined ? `--${name}` : `--${name} ${value}`,
    variable: `DOCS_${name.toUpperCase().replaceAll('-', '_')}`,
    default: /\(default: (.*)\)$/.exec(help)?.[1] ?? '',
    repeatable: multiple ?? false,
  }));
  t.strictSame(
    rows.map(([flag, variable, meaning = '', value = '']) => ({
      ...{ flag, variable, default: value },
      repeatable: meaning.endsWith('; repeatable'),
    })),
    wanted,
  );
});

t.test('the table of limits has the defaults of the flags', async (t) => {
  const { limits } = parseServeConfig(parseOptions(serveOptions, [], {}).values, {});
  const defaults = {
    'limit-requests': limits.requests,
    'limit-renders': limits.renders,
    'limit-auth-failures': limits.authFailures,
  };
  const rows = tableBelow('| what | limit | beyond it |');
  for (const [flag, usual] of Object.entries(defaults)) {
    const named = rows.map(([, limit = '']) => plain(limit)).filter((limit) => limit.endsWith(`--${flag}`));
    t.ok(named.length > 0, flag);
    for (const limit of named) t.ok(limit.startsWith(`${usual} a minute`), limit);
  }
});

t.test('no page calls runner-docs with an unknown command or flag', async (t) => {
  const known = new Map<string, { readonly options: OptionSpecs }>(Object.entries(commands));
  const first = new Set([...known.keys()].map((name) => name.split(' ', 1)[0]));
  const pages = ['README.md', 'docs/AGENTS.md'].map((path) => readFileSync(path, 'utf8'));
  const texts = [page, ...pages, ...readdirSync(hosting).map(fileOf)];
  let seen = 0;
  for (const [, line = ''] of texts.flatMap((text) => [
    ...text.matchAll(/\brunner-docs(?:\.cjs)? ([a-z]+\b[^`\n]*)/g),
  ])) {
    const words = line.match(/"[^"]*"|[^\s"]+/g)?.map((word) => word.replaceAll('"', '')) ?? [];
    if (!first.has(words[0] ?? '')) continue;
    const length = known.has(words.slice(0, 2).join(' ')) ? 2 : 1;
    const command = known.get(words.slice(0, length).join(' '));
    if (command === undefined) t.fail(`runner-docs ${line}`);
    else t.doesNotThrow(() => parseOptions(command.options, words.slice(length), {}), line);
    seen += 1;
  }
  t.ok(seen > 25, `${seen} calls were found`);
});

t.test('the Dockerfile copies files that exist', async (t) => {
  const text = fileOf('Dockerfile').replaceAll('\\\n', ' ');
  const copies = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = '']) =>
    list.split(' '),
  );
  const read = readFileSync('.ci/prepare.mjs', 'utf8');
  const needed = [...read.matchAll(/^const (?:lock|sources) = \[(.*)\];$/gm)].flatMap(([, list = '']) =>
    [...list.matchAll(/'([^']+)'/g)].map(([, name]) => name),
  );
  t.ok(needed.length > 7, 'what the build reads was found');
  for (const path of copies) t.ok(existsSync(path), path);
  for (const path of needed) t.ok(copies.includes(path ?? ''), `${path} is copied`);
  const ignore = fileOf('Dockerfile.dockerignore');
  t.strictSame(
    [...ignore.matchAll(/^!(.+)$/gm)].map(([, path]) => path).sort(),
    [...copies].sort(),
    'the context has what is copied and nothing else',
  );
  for (const [, built = ''] of text.matchAll(/^COPY --from=build \/src\/(\S+) /gm))
    t.ok(existsSync(built), built);
  if (has('links')) {
    const image = await temporaryFolder(t);
    for (const path of copies) cpSync(path, join(image, path), { recursive: true });
    symlinkSync(resolve('node_modules'), join(image, 'node_modules'));
    const build = spawnSync(process.execPath, ['esbuild.mjs'], { cwd: image, encoding: 'utf8' });
    t.equal(build.stderr, '', 'the programs are built of what is copied');
    t.ok(existsSync(join(image, 'dist', 'runner-docs.cjs')));
  }
  t.match(text, /^USER node$/m);

  const [, block = ''] = /^ENV (.*)$/m.exec(text) ?? [];
  const env = Object.fromEntries(block.split(/\s+/).map((pair) => pair.split('=')));
  t.match(parseEnvironment(t, env), {
    host: '0.0.0.0',
    content: resolve('/content'),
    data: resolve('/data'),
  });

  const [, check = '[]'] = /^HEALTHCHECK .*?CMD (\[.*\])$/m.exec(text) ?? [];
  const [program, ...parameters]: string[] = JSON.parse(check);
  t.equal(program, 'node');
  const service = await openSample();
  const isHealthy = async (port: string, more = {}) => {
    const env = { DOCS_PORT: port, ...more };
    const child = spawn(process.execPath, parameters, { env, stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    return code;
  };
  const { port } = new URL(service.origin);
  t.equal(await isHealthy(port), 0);
  t.equal(await isHealthy(port, { DOCS_BASE_URL: 'https://docs.example.org/' }), 0);
  t.equal(await isHealthy(port, { DOCS_BASE_URL: 'https://docs.example.org/library' }), 1, 'below the path');
  t.equal(await isHealthy(String(await freePort())), 1);
});

t.test('the compose files name files that exist', async (t) => {
  const variables: Record<string, string> = {
    DOCS_DOMAIN: 'docs.example.org',
    DATABASE_PASSWORD: 'secret',
    CONTENT: '/srv/docs',
  };
  const filled = (text: string) =>
    text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, kind: string, rest = '') =>
      kind === '-' ? rest : (variables[name] ?? t.fail(`${name} is not described`)),
    );
  for (const name of ['compose.yaml', 'compose.postgres.yaml']) {
    const { services, volumes } = parseYaml(filled(fileOf(name)));
    for (const [
      service,
      { build, environment = {}, volumes: mounts = [], depends_on: needs = {} },
    ] of Object.entries<{
      readonly build?: { readonly context: string; readonly dockerfile: string };
      readonly environment?: Readonly<Record<string, string>>;
      readonly volumes?: readonly string[];
      readonly depends_on?: object;
    }>(services)) {
      const what = `${name}, ${service}`;
      for (const other of Object.keys(needs)) t.ok(other in services, `${what} waits for ${other}`);
      for (const mount of mounts.filter((one) => one.includes(':'))) {
        const [from = ''] = mount.split(':');
        if (from.startsWith('.')) t.ok(from === './content' || existsSync(join(hosting, from)), mount);
        else if (!from.startsWith('/')) t.ok(from in volumes, `${what}: ${mount}`);
      }
      if (build === undefined) continue;
      t.equal(resolve(hosting, build.context), resolve('.'));
      t.ok(existsSync(resolve(hosting, build.context, build.dockerfile)), what);
      const config = parseEnvironment(t, { DOCS_CONTAINER: '1', DOCS_HOST: '0.0.0.0', ...environment });
      if (config.database !== undefined) {
        t.notMatch(config.database, /secret/, 'the password is in no address');
        t.equal(environment['PGPASSWORD'], 'secret');
        t.equal(config.baseUrl?.origin, 'https://docs.example.org');
      }
    }
    if (name === 'compose.postgres.yaml')
      for (const instance of services.proxy.environment.DOCS_INSTANCES.split(' '))
        t.ok(instance.replace(/:4000$/, '') in services, instance);
  }
  for (const [, name = ''] of fileOf('Caddyfile').matchAll(/\{\$(\w+):/g))
    t.match(fileOf('compose.postgres.yaml'), new RegExp(`^      ${name}: `, 'm'), name);
});

t.test('the systemd unit sets variables that the service reads', async (t) => {
  const unit = fileOf('runner-docs.service');
  const [, pairs = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
  parseEnvironment(t, Object.fromEntries(pairs.split(' ').map((pair) => pair.split('='))));
  t.notMatch(unit, /^MemoryDenyWriteExecute/m, 'Node compiles as it runs');
});

t.test('systemd accepts the unit', needs('systemd'), async (t) => {
  const unit = fileOf('runner-docs.service');
  const verify = async (text: string) => {
    // The program and its user need not be on this machine.
    const local = text.replace('/usr/bin/node', process.execPath);
    const folder = await temporaryFolder(t, { 'runner-docs.service': local });
    return spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, 'runner-docs.service')], {
      encoding: 'utf8',
    });
  };
  t.match(await verify(unit), { status: 0, stderr: '' });
  const broken = await verify(unit.replace('ProtectClock=', 'ProtectClok='));
  t.match(broken.stderr, /ProtectClok/, 'an unknown key would be noticed');
});

t.test('the Caddyfile is valid', needs('caddy'), async (t) => {
  const folder = await temporaryFolder(t);
  const { status, stderr } = spawnSync(
    'caddy',
    ['validate', '--config', resolve(hosting, 'Caddyfile'), '--adapter', 'caddyfile'],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder } },
  );
  t.equal(status, 0, stderr);
});

t.test('nginx passes on what the service needs', needs('nginx', 'openssl'), async (t) => {
  const [port, http, https] = [await freePort(), await freePort(), await freePort()];
  const folder = await temporaryFolder(t, { 'content/one.md': '# One' });
  await writeFiles(folder, {
    'nginx.conf': nginxAround(folder),
    'site.conf': siteOn({ folder, port, http, https }),
  });
  const certificate = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=docs.example.org', '-addext', 'subjectAltName=DNS:docs.example.org'];
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    ...certificate,
    ...subject,
  ]);
  t.equal(made.status, 0, String(made.stderr));
  const parameters = ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')];
  const tested = spawnSync('nginx', ['-t', ...parameters], { encoding: 'utf8' });
  t.equal(tested.status, 0, tested.stderr);

  const proxy = spawn('nginx', parameters, { stdio: 'ignore' });
  t.teardown(() => end(proxy));
  const places = ['--content', join(folder, 'content'), '--data', join(folder, 'data')];
  // A port that is not the usual one is part of the Host header.
  const address = ['--base-url', `https://docs.example.org:${https}`, '--trust-proxy', '127.0.0.1'];
  const service = spawn(
    process.execPath,
    [runnerDocsPath, 'serve', '--port', String(port), ...places, ...address],
    { stdio: 'ignore' },
  );
  t.teardown(() => end(service));
  const { stdout } = await runDocs(['token', 'create', '--data', join(folder, 'data')]);
  const ca = readFileSync(join(folder, 'cert.pem'));
  const get = (path: string, asked: Partial<Asked> = {}) => askHttps({ port: https, ca, path, ...asked });
  await poll(
    () => get('/readyz').catch(() => ({ status: 0 })),
    ({ status }) => status === 200,
  );

  const list = await get('/api/v1/docs', { token: stdout.trim() });
  t.match(list, {
    status: 200,
    body: new RegExp(`"self":"https://docs\\.example\\.org:${https}/api/v1/docs/one"`),
  });
  t.match(await get('/docs', { host: 'evil.example' }), { status: 403 }, 'a name that is not its own');
  const { body: signIn } = await get('/sign-in');
  t.match(signIn, 'runner-docs owner set-password');
  t.notMatch(signIn, folder, 'strangers do not learn of the folders of the machine');
  const moved = await fetch(`http://127.0.0.1:${http}/docs?x=1`, { redirect: 'manual' });
  t.match(
    { status: moved.status, to: moved.headers.get('location') },
    { status: 301, to: /^https:.*\/docs\?x=1$/ },
  );
  const guess = { token: 'wrong', from: '127.0.0.2' };
  for (let guesses = 0; guesses < 10; guesses += 1) t.equal((await get('/api/v1/docs', guess)).status, 401);
  t.equal((await get('/api/v1/docs', guess)).status, 429, 'the eleventh from one address');
  const forged = { ...guess, forwardedFor: '192.0.2.1' };
  t.equal(
    (await get('/api/v1/docs', forged)).status,
    429,
    'an address that the client names itself is not it',
  );
  t.equal((await get('/api/v1/docs', { ...guess, from: '127.0.0.3' })).status, 401, 'another address');
});

/** Reads variables as `serve` does. Each must be a flag. */
function parseEnvironment(t: Test, env: Readonly<Record<string, string>>) {
  const known = Object.keys(serveOptions).map((name) => `DOCS_${name.toUpperCase().replaceAll('-', '_')}`);
  const ours = Object.keys(env).filter((name) => name.startsWith('DOCS_'));
  t.ok(ours.length > 0, 'there are variables');
  for (const name of ours) t.ok(known.includes(name), name);
  return parseServeConfig(parseOptions(serveOptions, [], env).values, {});
}

function nginxAround(folder: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ');
  // Its workers must read the temporary folder, which is for its owner alone.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${user} daemon off; pid ${join(folder, 'pid')}; events {}
http { access_log off; ${temporary} include ${join(folder, 'site.conf')}; }\n`;
}

/** The example, with the ports and the certificate of this test. */
function siteOn(
  place: Readonly<Record<'port' | 'http' | 'https', number>> & { readonly folder: string },
): string {
  const { folder, port, http, https } = place;
  const changes: readonly (readonly [string, string])[] = [
    ['server 127.0.0.1:4000;', `server 127.0.0.1:${port};`],
    ['listen 80;', `listen 127.0.0.1:${http};`],
    ['listen 443 ssl;', `listen 127.0.0.1:${https} ssl;`],
    ['/etc/letsencrypt/live/docs.example.org/fullchain.pem', join(folder, 'cert.pem')],
    ['/etc/letsencrypt/live/docs.example.org/privkey.pem', join(folder, 'key.pem')],
  ];
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`nginx.conf has no "${from}".`);
    return text.replace(from, to);
  }, fileOf('nginx.conf'));
}

interface Asked {
  readonly port: number;
  readonly ca: Buffer;
  readonly path: string;
  readonly host?: string;
  readonly token?: string;
  /** The client's own address. */
  readonly from?: string;
  readonly forwardedFor?: string;
}

function askHttps({ port, ca, path, host = `docs.example.org:${port}`, token, from, forwardedFor }: Asked) {
  return new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
    const headers = {
      host,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
    };
    const local = from === undefined ? {} : { localAddress: from };
    const asked = {
      host: '127.0.0.1',
      servername: 'docs.example.org',
      agent: false,
      port,
      ca,
      path,
      headers,
      ...local,
    };
    request(asked, async (response) => {
      const chunks = await response.setEncoding('utf8').toArray();
      resolve({ status: response.statusCode ?? 0, body: chunks.join('') });
    })
      .on('error', reject)
      .end();
  });
}

async function end(child: ReturnType<typeof spawn>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'close');
}
