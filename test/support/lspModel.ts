import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { ProgressParams, WorkProgress } from '../../protocol/messages/messageTypes.ts';
import { lspSchemas, type MetaModel, type MetaType, schemaOfType } from './lspSchemas.ts';
import { protocolModel } from './protocolModel.ts';

/**
 * Holds the messages of a server to the meta model that the Language Server Protocol has published, and those of
 * Runner's own protocol to its schema.
 */
export interface LspModel {
  /** A message of the client: the answer to a request is held to the request's method. */
  fromClient(message: unknown): void;
  /** What is wrong with a message of the server; undefined where nothing is. */
  fromServer(message: unknown): string | undefined;
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Published {
  readonly model: MetaModel;
  /** What is wrong with a value of a type. */
  problemWith(type: MetaType, value: unknown): string | undefined;
}

let made: Published | undefined;

/** Read once for all connections of a test file; a type is compiled when a message first has it. */
function published(): Published {
  if (made) return made;
  const model: MetaModel = JSON.parse(
    readFileSync('test/fixtures/published/language-server-protocol.metaModel.json', 'utf8'),
  );
  // A check runs seldom: making it fast takes longer.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, code: { optimize: false } });
  ajv.addSchema(lspSchemas(model), 'lsp');
  const checks = new Map<MetaType, ValidateFunction>();
  made = {
    model,
    problemWith(type, value) {
      const check = checks.get(type) ?? ajv.compile(schemaOfType(type, model));
      checks.set(type, check);
      return check(value) ? undefined : ajv.errorsText(check.errors?.slice(0, 5));
    },
  };
  return made;
}

const responseError: MetaType = {
  kind: 'literal',
  value: {
    properties: [
      { name: 'code', type: { kind: 'base', name: 'integer' } },
      { name: 'message', type: { kind: 'base', name: 'string' } },
      { name: 'data', type: { kind: 'reference', name: 'LSPAny' }, optional: true },
    ],
  },
};
/** The model leaves the value of a progress open; that of work that is done has one of these types. */
const workDone: MetaType = {
  kind: 'or',
  items: ['Begin', 'Report', 'End'].map((name) => ({ kind: 'reference', name: `WorkDoneProgress${name}` })),
};

export function createLspModel(): LspModel {
  const { model, problemWith } = published();
  /** The requests of the client that have no answer yet. */
  const asked = new Map<string | number, Message>();
  const sent = protocolModel('closed');
  const taken = protocolModel('open');
  const requestOf = (method: string) => model.requests.find((request) => request.method === method);

  const problemWithParams = ({ id, method = '', params }: Message): string | undefined => {
    const own = sent.problemWith(method, 'params', params);
    if (own !== undefined || isOwn(method)) return own;
    const known =
      id === undefined ? model.notifications.find((each) => each.method === method) : requestOf(method);
    if (!known) return `the protocol has no such ${id === undefined ? 'notification' : 'request'}`;
    if (known.messageDirection === 'clientToServer') return 'only a client sends it';
    if (!known.params) return params === undefined ? undefined : 'it has no parameters';
    return problemWith(known.params, params) ?? problemInside(method, params);
  };
  /** Of what the model leaves open, and says elsewhere. */
  const problemInside = (method: string, params: unknown): string | undefined => {
    if (method === '$/progress') return problemWith(workDone, withoutOwn((params as ProgressParams).value));
    if (method !== 'client/registerCapability') return undefined;
    const { registrations } = params as { registrations: { method: string; registerOptions?: unknown }[] };
    return registrations.map(problemWithRegistration).find((problem) => problem !== undefined);
  };
  const problemWithRegistration = (registration: { method: string; registerOptions?: unknown }) => {
    const { method, registerOptions } = registration;
    const known = [...model.requests, ...model.notifications].find(
      (each) => (each.registrationMethod ?? each.method) === method,
    );
    if (!known) return `the protocol has no method ${method} to register`;
    if (registerOptions === undefined || !known.registrationOptions) return undefined;
    return problemWith(known.registrationOptions, registerOptions);
  };
  const problemWithAnswer = ({ id, result, error }: Message): string | undefined => {
    if (error !== undefined && result !== undefined) return 'it is an answer and an error';
    const problem = error === undefined ? undefined : problemWith(responseError, error);
    // Who cannot read a request cannot name it.
    if (problem !== undefined || (id === null && error !== undefined)) return problem;
    const { method, params } = asked.get(id ?? '') ?? {};
    asked.delete(id ?? '');
    if (method === undefined) return 'it answers nothing that was asked';
    if (error !== undefined) return undefined;
    const own = problemWithTaken(method, params) ?? sent.problemWith(method, 'result', result);
    if (own !== undefined || isOwn(method)) return own;
    const request = requestOf(method);
    return request ? problemWith(request.result, result) : 'the protocol has no such request';
  };
  /** What the daemon takes, the schema allows. It reads nothing as an empty map, and `null` as absent. */
  const problemWithTaken = (method: string, params: unknown) => {
    const problem = taken.problemWith(method, 'params', params);
    return /null|\[\]/.test(JSON.stringify(params) ?? 'null') ? undefined : problem;
  };
  return {
    fromClient(value) {
      const message = value as Message;
      const { id, method } = message;
      if (id !== undefined && id !== null && method !== undefined) asked.set(id, message);
    },
    fromServer(value) {
      const message = value as Message;
      const { jsonrpc, method } = message;
      const problem =
        jsonrpc !== '2.0'
          ? 'it is no message of JSON-RPC 2.0'
          : method === undefined
            ? problemWithAnswer(message)
            : problemWithParams(message);
      return problem === undefined ? undefined : `${problem}: ${JSON.stringify(message).slice(0, 500)}`;
    },
  };
}

/** A progress has figures beside those of LSP, which docs/PROTOCOL.md names. */
function withoutOwn(value: WorkProgress): object {
  if (value.kind !== 'report') return value;
  const { completed: _, total: __, parts: ___, ...published } = value;
  return published;
}

/** LSP has no messages of Runner's own protocol. */
function isOwn(method: string): boolean {
  return method.startsWith('runner/');
}
