import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import t from 'tap';
import { startDaemonProcess } from '../support/daemonProcess.ts';
import { createLspModel } from '../support/lspModel.ts';
import { needs } from '../support/parts.ts';
import { protocolModel } from '../support/protocolModel.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
}

interface Method {
  readonly name: string;
  readonly tags: readonly { readonly name: string }[];
  readonly params: readonly { readonly name: string; readonly required: boolean; readonly schema: Schema }[];
  readonly result?: object;
}

const document: {
  readonly methods: readonly Method[];
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
} = JSON.parse(readFileSync('docs/protocol/openrpc.json', 'utf8'));

const draft7 = 'http://json-schema.org/draft-07/schema';

t.test('the document for OpenRPC is one', async (t) => {
  // It names a schema of schemas at another address, which is draft 7.
  const text = readFileSync('test/fixtures/published/open-rpc.metaSchema.json', 'utf8');
  const schema = JSON.parse(
    text.replace(/https:\/\/meta\.json-schema\.tools\/?(?:#\/definitions\/JSONSchemaObject)?/g, (found) =>
      found.endsWith('Object') ? `${draft7}#` : draft7,
    ),
  );
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const validate = ajv.compile(schema);
  t.ok(validate(document), ajv.errorsText(validate.errors));
});

/** A schema without its reference. */
function resolved({ $ref, ...schema }: Schema): Schema {
  if ($ref === undefined) return schema;
  return resolved({ ...document.components.schemas[$ref.split('/').at(-1) ?? ''], ...schema });
}

/** A value that the schema allows. */
function sampleOf(name: string, schema: Schema): unknown {
  const { type, enum: values, anyOf, items, properties = {}, required = [], minItems = 0 } = resolved(schema);
  if (values) return values[0];
  if (anyOf?.[0]) return sampleOf(name, anyOf[0]);
  if (type === 'array') return Array.from({ length: minItems }, () => sampleOf('', items ?? {}));
  if (type === 'object')
    return Object.fromEntries(required.map((key) => [key, sampleOf(key, properties[key] ?? {})]));
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number') return 1;
  if (name === 'session' || name === 'id') return '20261122-abcd1234';
  return ['cwd', 'path', 'folder'].includes(name) ? '/nowhere' : 'text';
}

/** Values that the schema refuses. */
function wrongValuesOf(schema: Schema): readonly unknown[] {
  const {
    type,
    enum: values,
    anyOf,
    minimum,
    maximum,
    minLength = 0,
    maxLength,
    minItems = 0,
  } = resolved(schema);
  // No choice takes a list in a list.
  if (anyOf) return [[[1]]];
  if (values) return ['no such word', 7];
  return [
    ...(type === 'object' || type === 'array' ? ['text', 7] : [{ a: 1 }, [1]]),
    ...(type === 'string' ? [7] : []),
    ...(type === 'boolean' ? ['yes', 1] : []),
    ...(type === 'integer' ? ['1', 1.5] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength > 0 ? [''] : []),
    ...(maxLength === undefined ? [] : ['a'.repeat(maxLength + 1)]),
    ...(minItems > 0 ? [[]] : []),
  ];
}

t.test('what the schema refuses, the daemon refuses, and it says which parameter', async (t) => {
  const home = await temporaryFolder(t);
  const daemon = await startDaemonProcess({ host: 'http://127.0.0.1:9' }, { env: { HOME: home } });
  t.teardown(() => daemon.close());
  const requests = document.methods.filter(
    ({ tags, result }) => result !== undefined && tags.some(({ name }) => name === 'from client'),
  );
  t.ok(requests.length > 50);
  for (const { name: method, params } of requests) {
    const valid = Object.fromEntries(
      params.filter(({ required }) => required).map(({ name, schema }) => [name, sampleOf(name, schema)]),
    );
    const cases = params.flatMap(({ name, required, schema }) => [
      ...wrongValuesOf(schema).map((wrong) => ({ name, wrong })),
      ...(required ? [{ name, wrong: undefined }] : []),
    ]);
    for (const { name, wrong } of cases) {
      const told = `${method} ${name} ${String(JSON.stringify(wrong)).slice(0, 40)}`;
      const answered = daemon.connection.sendRequest(method, { ...valid, [name]: wrong });
      const error = await answered.then(
        () => ({ code: 0, data: {} }),
        (reason: { readonly code: number; readonly data: unknown }) => reason,
      );
      const { path = '' } = Object(error.data);
      if (error.code !== -32602 || !path.startsWith(name)) t.fail(`${told}: ${error.code} ${path}`);
    }
    t.pass(`${method}: ${cases.length}`);
  }
});

t.test('a message that the schema does not have fails the test that sees it', (t) => {
  const status = { state: 'online', kind: 'ok', message: 'It answers.' };
  const own = protocolModel('closed');
  t.equal(own.problemWith('runner/status', 'result', status), undefined);
  t.match(own.problemWith('runner/status', 'result', { ...status, colour: 'red' }), /additional/);
  t.match(own.problemWith('runner/status', 'result', { ...status, kind: 'red' }), /kind/);
  t.match(own.problemWith('runner/nothing', 'params', {}), /no such/);
  const model = createLspModel();
  const asked = (params: object) => {
    model.fromClient({ jsonrpc: '2.0', id: 1, method: 'runner/models/show', params });
    return model.fromServer({ jsonrpc: '2.0', id: 1, result: { model: 'm' } });
  };
  t.match(asked({}), /params must have required property 'model'/);
  t.match(asked({ model: 'm' }), /result\/model must be object/);
  t.end();
});

t.test('Python reads the types', needs('python'), async (t) => {
  const folder = await temporaryFolder(t);
  cpSync('docs/protocol/runner_protocol.py', join(folder, 'runner_protocol.py'));
  const script = 'import runner_protocol as p; print(sorted(p.ChatParams.__required_keys__))';
  const { stdout, stderr, status } = spawnSync('python3', ['-c', script], { cwd: folder, encoding: 'utf8' });
  // NotRequired came with 3.11.
  if (status !== 0) t.match(stderr, /NotRequired/);
  else t.equal(stdout, "['messages', 'model', 'streamId']\n");
});

t.test('Emacs compiles the table of methods, and shows one', needs('emacs'), async (t) => {
  const folder = await temporaryFolder(t);
  cpSync('docs/protocol/runner-protocol.el', join(folder, 'runner-protocol.el'));
  const emacs = (...args: readonly string[]) =>
    spawnSync('emacs', ['-Q', '--batch', ...args], { cwd: resolve(folder), encoding: 'utf8' });
  const compiled = emacs(
    '--eval',
    '(setq byte-compile-error-on-warn t)',
    '-f',
    'batch-byte-compile',
    'runner-protocol.el',
  );
  t.equal(compiled.status, 0, compiled.stderr);
  const shown = emacs(
    ...['-l', 'runner-protocol.elc', '--eval'],
    '(progn (runner-protocol-describe "runner/edit") (princ (with-current-buffer "*Help*" (buffer-string))))',
  );
  t.match(shown.stdout, /result: EditResult[\s\S]*:streamId required string/, shown.stderr);
});
