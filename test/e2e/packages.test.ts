import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Ajv } from 'ajv';
import t from 'tap';
import { needs, places } from '../support/parts.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';
import { filesOf } from '../support/zip.ts';

const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'));

interface Manifest {
  readonly name: string;
  readonly mcpName: string;
  readonly publisher: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly man: readonly string[];
  readonly files: readonly string[];
}

// npm always packs the manifest and the programs of `bin`. Packing the tarball itself takes longer than all of this.
const folder = await temporaryFolder(t);
for (const path of ['package.json', ...Object.values(manifest.bin), ...manifest.files])
  cpSync(path, join(folder, path), { recursive: true });
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));

/** Runs a program of the package, in an environment without the user's own files. */
function run(program: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8' };
  return spawnSync(process.execPath, [join(folder, manifest.bin[program] ?? ''), ...args], {
    encoding: 'utf8',
    env,
  });
}

for (const program of Object.keys(manifest.bin))
  t.test(`${program} of the npm package reports its version`, async (t) => {
    const { stdout, stderr } = run(program, '--version');
    t.ok(stdout.includes(manifest.version), stderr);
  });

t.test('the packed file is installed without the network, in one package, and starts', async (t) => {
  const home = await temporaryFolder(t);
  const packed = spawnSync(process.execPath, ['.ci/npmPackage.mjs', home], { encoding: 'utf8' });
  const [, file = '', size = ''] = /^(.*\.tgz): ([\d.]+) MB$/m.exec(packed.stdout) ?? [];
  t.ok(Number(size) < 11, `${size} MB ${packed.stderr}`);
  const env = { PATH: process.env['PATH'], HOME: home, npm_config_update_notifier: 'false' };
  const options = { cwd: home, env, encoding: 'utf8' } as const;
  const words = ['install', '--offline', '--no-audit', '--no-fund', '--prefix', home, file];
  const installed = spawnSync('npm', words, options);
  t.match(installed.stdout, 'added 1 package', installed.stderr);
  t.strictSame(readdirSync(join(home, 'node_modules', '.bin')).sort(), Object.keys(manifest.bin).sort());
  const inside = readdirSync(join(home, 'node_modules', manifest.name), { recursive: true }).map(String);
  t.strictSame(
    inside.filter((path) => /\.test\.|^(?:client|daemon|test)\b|\.map$/.test(path)),
    [],
  );
  for (const path of ['openrpc.json', 'schema.json', 'runner_protocol.py'])
    t.ok(inside.includes(join('docs', 'protocol', path)), path);
  for (const program of Object.keys(manifest.bin)) {
    const { stdout, stderr } = spawnSync(join(home, 'node_modules', '.bin', program), ['--version'], options);
    t.ok(stdout.includes(manifest.version), stderr);
  }
  const npx = spawnSync(
    'npx',
    ['--offline', '--yes', `./${basename(file)}`, 'chat', '--practice', 'Hello'],
    options,
  );
  t.match(npx.stdout, 'Hello.', `npx of the file: ${npx.stderr}`);
});

t.test('the npm package has the manual pages of its programs', async (t) => {
  for (const path of manifest.man) {
    const [, name = '', section = ''] = /^man\/(.+)\.(\d)$/.exec(path) ?? [];
    t.ok(manifest.bin[name], `${name} is a program`);
    t.match(
      readFileSync(join(folder, path), 'utf8'),
      `.TH ${name.toUpperCase().replaceAll('-', '\\-')} ${section} `,
    );
  }
});

t.test('the npm package has the daemon and the pages that the terminal needs', async (t) => {
  const { status, stdout, stderr } = run('runner', 'chat', '--practice', 'What is a Modelfile?');
  t.equal(status, 0, stderr);
  t.match(stdout, 'MODELFILES.md');
});

t.test('the npm package has the workers that the document service needs', async (t) => {
  const places = ['--content', join(folder, 'docs'), '--data', join(folder, 'data')];
  const { status, stdout, stderr } = run('runner-docs', 'index', ...places);
  t.equal(status, 0, stdout + stderr);
});

t.test('an editor installs the extension', needs('codeServer', 'node24'), async (t) => {
  const program = [places.node24, join(places.codeServer, 'out', 'node', 'entry.js')];
  const { status, stdout, stderr } = spawnSync(process.execPath, ['.ci/desktopEditor.mjs', ...program], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr);
  t.equal(stdout, `${manifest.publisher}.${manifest.name}@${manifest.version} is installed.\n`);
});

t.test('the extension is small, and has the programs that it starts', async (t) => {
  const unpacked = await temporaryFolder(t);
  const vsix = join(unpacked, 'runner.vsix');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['.ci/package.mjs', vsix], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stdout + stderr);
  t.ok(statSync(vsix).size < 1_000_000, `${statSync(vsix).size} bytes`);

  const files = filesOf(readFileSync(vsix));
  t.strictSame(
    [...files.keys()].filter((name) =>
      /\.map$|^extension\/docs\/|acp|practice|terminal|runner-docs/i.test(name),
    ),
    [],
    'what it never starts is left out',
  );
  const server = files.get('extension/dist/runnerd/server.cjs') ?? '';
  t.ok(server.includes('function createCore('), 'a stack in the log has the names of functions');
  t.ok(server.length < 0.8 * statSync('dist/runnerd/server.cjs').size, 'it is smaller than it was built');
  const programs = [...files].filter(([name]) => /\.(?:cjs|json)$/.test(name));
  await writeFiles(unpacked, Object.fromEntries(programs));
  const runnerd = (...args: string[]) =>
    spawnSync(process.execPath, [join(unpacked, 'extension/dist/runnerd.cjs'), ...args], {
      encoding: 'utf8',
    });
  t.equal(runnerd('--version').stdout, `${manifest.version}\n`);
  for (const flag of ['--acp', '--practice']) {
    const { status, stderr } = runnerd(flag);
    t.equal(status, 2, stderr);
    t.match(stderr, new RegExp(`^runnerd: .* has no ${flag}\\. Use the runnerd of the package\\.\n$`));
  }
});

t.test(
  'the bundle for desktop apps is the same each time, and serves the chosen folder',
  needs('node24'),
  async (t) => {
    const unpacked = await temporaryFolder(t, { 'documents/one.md': '# One\n\nA lantern.\n' });
    const pack = (name: string) => {
      const file = join(unpacked, name);
      const { status, stderr } = spawnSync(process.execPath, ['.ci/bundle.mjs', file], { encoding: 'utf8' });
      t.equal(status, 0, stderr);
      return readFileSync(file);
    };
    const archive = pack('one.mcpb');
    t.ok(archive.equals(pack('two.mcpb')), 'the same bytes');
    t.ok(archive.length < 4_000_000, `${archive.length} bytes`);
    const listed = spawnSync('python3', ['-m', 'zipfile', '-t', join(unpacked, 'one.mcpb')], {
      encoding: 'utf8',
    });
    if (listed.error === undefined) t.equal(listed.status, 0, `another reader takes it: ${listed.stderr}`);

    const files = filesOf(archive);
    const described = JSON.parse(files.get('manifest.json') ?? '');
    const schema = JSON.parse(readFileSync('test/fixtures/published/mcpb-manifest.schema.json', 'utf8'));
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    t.ok(validate(described), JSON.stringify(validate.errors));
    t.equal(described.version, manifest.version);
    t.ok(files.has(described.server.entry_point));

    await writeFiles(unpacked, Object.fromEntries(files));
    const values: Readonly<Record<string, string>> = {
      __dirname: unpacked,
      HOME: join(unpacked, 'home'),
      'user_config.content': join(unpacked, 'documents'),
    };
    const { command, args } = described.server.mcp_config;
    t.equal(command, 'node');
    const filled = args.map((argument: string) =>
      argument.replace(/\$\{([^}]*)\}/g, (_, name) => values[name] ?? ''),
    );
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({
        command: places.node24,
        args: filled,
        env: { HOME: join(unpacked, 'home') },
      }),
    );
    t.teardown(() => client.close());
    const { tools } = await client.listTools();
    t.same(
      described.tools.map(({ name }: { readonly name: string }) => name),
      tools.map(({ name }) => name),
    );
    // The first answers may come before the library is indexed.
    const found = await poll(
      () => client.callTool({ name: 'search_docs', arguments: { query: 'lantern' } }),
      ({ structuredContent }) => (structuredContent as { total: number }).total > 0,
    );
    t.match(found.structuredContent, { total: 1, results: [{ slug: 'one' }] });
    const read = await client.callTool({ name: 'get_doc_markdown', arguments: { slug: 'one' } });
    t.match(read.structuredContent, { markdown: '# One\n\nA lantern.\n' });
  },
);

/** What the schema of 2025-12-11 requires of the parts that are used here, and what the registry requires beyond it. */
const registrySchema = (() => {
  const text = { type: 'string', minLength: 1 };
  const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
    ...{ type: 'object', additionalProperties: false },
    ...{ properties, required },
  });
  const input = {
    description: text,
    format: { enum: ['string', 'number', 'boolean', 'filepath'] },
    isRequired: { type: 'boolean' },
  };
  const positional = object({ type: { const: 'positional' }, value: text });
  const named = object({ type: { const: 'named' }, name: { type: 'string', pattern: '^--' }, ...input });
  const npm = object({
    registryType: { const: 'npm' },
    registryBaseUrl: { const: 'https://registry.npmjs.org' },
    ...{ identifier: text, runtimeHint: { const: 'npx' } },
    version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$' },
    transport: object({ type: { const: 'stdio' } }),
    packageArguments: { type: 'array', items: { anyOf: [positional, named] } },
  });
  const variable = object({ description: text, isRequired: { type: 'boolean' }, placeholder: text });
  const remote = object({
    type: { const: 'streamable-http' },
    url: { type: 'string', pattern: '^https://' },
    variables: { type: 'object', additionalProperties: variable },
  });
  return object({
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
    name: { type: 'string', pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$', minLength: 3, maxLength: 200 },
    title: { type: 'string', minLength: 1, maxLength: 100 },
    description: { type: 'string', minLength: 1, maxLength: 100 },
    version: text,
    packages: { type: 'array', items: npm, minItems: 1 },
    remotes: { type: 'array', items: remote, minItems: 1 },
  });
})();

t.test(
  'the entry for the MCP registry is valid, agrees with the package, and starts what it says',
  async (t) => {
    const entry = JSON.parse(readFileSync('server.json', 'utf8'));
    const validate = new Ajv().compile(registrySchema);
    t.ok(validate(entry), JSON.stringify(validate.errors));
    const [described] = entry.packages;
    t.strictSame(
      [entry.version, described.version, described.identifier, entry.name],
      [manifest.version, manifest.version, manifest.name, manifest.mcpName],
    );
    const [remote] = entry.remotes;
    t.same(
      Object.keys(remote.variables),
      [...remote.url.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name),
    );
    const library = await temporaryFolder(t, { 'documents/one.md': '# One\n\nA lantern.\n' });
    const values: Readonly<Record<string, string>> = {
      '--content': join(library, 'documents'),
      '--data': join(library, 'data'),
    };
    const args = described.packageArguments.flatMap(({ name, value }: Readonly<Record<string, string>>) =>
      name === undefined ? [value] : [name, values[name]],
    );
    const client = new Client({ name: 'test', version: '1.0.0' });
    // What `npx` starts: the program with the name of the package.
    const program = join(folder, manifest.bin[described.identifier] ?? '');
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, ...args] }));
    t.teardown(() => client.close());
    // The first answers may come before the library is indexed.
    const found = await poll(
      () => client.callTool({ name: 'search_docs', arguments: { query: 'lantern' } }),
      ({ structuredContent }) => (structuredContent as { total: number }).total > 0,
    );
    t.match(found.structuredContent, { total: 1, results: [{ slug: 'one' }] });
  },
);
