import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Value } from 'typebox/value';
import { expectationOf } from '../../protocol/base/expectation.ts';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { RendererBusyError } from '../formats/renderer.ts';
import { UnrenderableError } from '../formats/renderJob.ts';
import { IndexIncompleteError, IndexUnavailableError, QueryError } from '../search/documentIndex.ts';
import type { McpLibrary } from './mcpLibrary.ts';
import type { McpProtocol } from './mcpProtocol.ts';

/** A tool that a model can call. */
export interface DocsTool<Input extends TObject = TObject, Output extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  /** For the model. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** The arguments are valid. Throws ToolError. */
  call(args: Static<Input>, library: McpLibrary, signal: AbortSignal): Promise<Static<Output>>;
}

/** Derives the types of a tool's arguments and result from the schemas of their properties. */
export function defineTool<Input extends TProperties, Output extends TProperties>({
  input,
  output,
  ...tool
}: Omit<DocsTool<TObject<Input>, TObject<Output>>, 'input' | 'output'> & {
  readonly input: Input;
  readonly output: Output;
}): DocsTool<TObject<Input>, TObject<Output>> {
  return { ...tool, input: Type.Object(input, { additionalProperties: false }), output: Type.Object(output) };
}

/** A model's mistake, with a sentence that says what to do instead. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * Models fill in every field, and some proxies make a text of each number. So an optional argument that is empty or
 * null counts as absent, digits are a number, and what is above a maximum is the maximum. Throws ToolError with a
 * sentence for each of the first arguments that are wrong all the same.
 */
export function parseArguments<Input extends TObject>(input: Input, args: unknown): Static<Input> {
  const given = isRecord(args) ? withUsualForms(input, args) : (args ?? {});
  if (Value.Check(input, given)) return given;
  const known = Object.keys(input.properties);
  const sentences = Value.Errors(input, given).flatMap((error) => sentenceOf(error, known));
  throw new ToolError(
    [...new Set(sentences)].slice(0, maxSentences).join(' ') || 'The arguments are not valid.',
  );
}

function withUsualForms({ properties, required }: TObject, args: Readonly<Record<string, unknown>>) {
  const schemas = new Map<string, ArgumentSchema>(Object.entries(properties));
  const needed: readonly string[] = required ?? [];
  const isAbsent = ([name, value]: [string, unknown]) =>
    (value === '' || value === null) && schemas.has(name) && !needed.includes(name);
  const given = Object.entries(args).filter((one) => !isAbsent(one));
  return Object.fromEntries(given.map(([name, value]) => [name, withUsualForm(value, schemas.get(name))]));
}

type ArgumentSchema = { readonly type?: unknown; readonly maximum?: number };

function withUsualForm(value: unknown, { type, maximum = Infinity }: ArgumentSchema = {}): unknown {
  if (type !== 'integer') return value;
  const number = typeof value === 'string' && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' ? Math.min(number, maximum) : value;
}

/** The most sentences in one error. */
const maxSentences = 5;

function sentenceOf(error: ReturnType<typeof Value.Errors>[number], known: readonly string[]): string[] {
  const name = `"${error.instancePath.slice(1, 50)}"`;
  switch (error.keyword) {
    case 'additionalProperties':
      return error.params.additionalProperties.map((one) => {
        const there = known.length === 0 ? 'It takes none.' : `There is ${known.join(', ')}.`;
        return `There is no argument "${one.slice(0, 50)}". ${there}`;
      });
    case 'required':
      return error.params.requiredProperties.map((one) => `The argument "${one}" is missing.`);
    case 'type':
      if (error.instancePath === '') return ['The arguments must be an object.'];
      return [`${name} ${expectationOf({ keyword: 'type', type: String(error.params.type) })}.`];
    case 'enum':
      return [`${name} ${expectationOf({ keyword: 'enum', values: error.params.allowedValues })}.`];
    case 'minLength':
    case 'maxLength':
    case 'minimum':
      return [`${name} ${expectationOf({ keyword: error.keyword, limit: Number(error.params.limit) })}.`];
    default:
      // `additionalProperties` already names an unknown argument.
      return [];
  }
}

/** What the handlers of a server share. */
export interface McpContext {
  readonly server: Server;
  readonly library: Promise<McpLibrary>;
  readonly failures: McpFailures;
  /** Whether there are the tools that some hosts look for by their names. */
  readonly hasConnectorTools: boolean;
}

/** JSON-RPC 2.0, section 5.1. */
const invalidParameters = -32_602;
const internalError = -32_603;

/** Errors whose messages are for the client. */
const shown = [ToolError, IndexIncompleteError, QueryError, UnrenderableError, RendererBusyError];

type McpFailures = ReturnType<typeof createMcpFailures>;

/** What a client learns about a failure. `onDefect` is called with what is no mistake of the client. */
export function createMcpFailures({ ProtocolError }: McpProtocol, onDefect: (error: Error) => void) {
  /** A sentence for the client. An internal error goes only to the log. */
  const sentenceOf = (error: unknown): string => {
    if (error instanceof Error && shown.some((kind) => error instanceof kind)) return error.message;
    if (error instanceof IndexUnavailableError) return 'The index does not answer. Try again in a moment.';
    onDefect(error instanceof Error ? error : new Error(String(error)));
    return 'The service has failed. Its log has more.';
  };
  return {
    sentenceOf,
    invalid: (message: string): Error => new ProtocolError(invalidParameters, message),
    unknownResource: (uri: string, message: string): Error =>
      new ProtocolError(invalidParameters, message, { uri: uri.slice(0, 1_000) }),
    /** Runs work that may fail, and throws only errors that a client may see. */
    async answer<Answer>(signal: AbortSignal, work: () => Promise<Answer>): Promise<Answer> {
      try {
        return await work();
      } catch (error) {
        if (error instanceof ProtocolError || signal.aborted) throw error;
        throw new ProtocolError(internalError, sentenceOf(error));
      }
    },
  };
}

/** MCP up to 2025-11-25; since 2026-07-28 it is a wrong parameter. */
const resourceNotFound = -32_002;

/**
 * Corrects the errors that the SDK sends. It treats parameters of a wrong type as an internal error, with the whole
 * output of its validator. It also sends the newer revision's code to every client, but older clients have another code
 * for an unknown resource.
 */
export function mendSentErrors(server: Server, era: 'legacy' | 'modern'): void {
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(mended(message, era), options);
    await connect(transport);
    const receive = transport.onmessage;
    transport.onmessage = (message, extra) => receive?.(withoutNulls(message), extra);
  };
}

/** Some clients send null for a parameter that they leave out, which the SDK takes for one of a wrong type. */
function withoutNulls<Message extends JSONRPCMessage>(message: Message): Message {
  if (!('params' in message) || !isRecord(message.params)) return message;
  const params = Object.entries(message.params).filter(([, value]) => value !== null);
  return { ...message, params: Object.fromEntries(params) };
}

function mended(message: JSONRPCMessage, era: 'legacy' | 'modern'): JSONRPCMessage {
  if (!('error' in message)) return message;
  const { error } = message;
  const issues = tryIssues(error.message);
  if (issues !== undefined) {
    const sentences = [...new Set(issues.map(issueToSentence))].slice(0, maxNamed).join(' ');
    return { ...message, error: { ...error, code: invalidParameters, message: sentences } };
  }
  // No other error of this server contains an address.
  const namesResource = isRecord(error.data) && 'uri' in error.data;
  if (era === 'legacy' && namesResource) return { ...message, error: { ...error, code: resourceNotFound } };
  return message;
}

/** The part of a finding of the SDK's validator that is read. */
interface Issue {
  readonly path: readonly (string | number)[];
  readonly expected?: unknown;
  readonly message?: unknown;
}

const maxNamed = 5;

/** The findings are a list in JSON, sometimes after a few words; undefined for any other message. */
function tryIssues(message: string): readonly Issue[] | undefined {
  const start = message.indexOf('[');
  if (start < 0 || start > 100 || !message.endsWith(']')) return undefined;
  const found = tryJson(message.slice(start));
  const isIssue = (value: unknown): value is Issue => isRecord(value) && Array.isArray(value['path']);
  return Array.isArray(found) && found.length > 0 && found.every(isIssue) ? found : undefined;
}

function issueToSentence({ path, expected, message }: Issue): string {
  const names = path[0] === 'params' ? path.slice(1) : path;
  if (names.length === 0) return 'The parameters of this method must be an object.';
  const name = `The parameter "${names.join('.').slice(0, 100)}"`;
  if (/received undefined$/.test(String(message))) return `${name} is missing.`;
  const isPlain = /^(string|number|boolean|object|record|array)$/.test(String(expected));
  return `${name} ${isPlain ? expectationOf({ keyword: 'type', type: String(expected) }) : 'is not valid'}.`;
}
