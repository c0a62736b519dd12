import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Value } from 'typebox/value';
import { expectationOf } from '../../protocol/base/expectation.ts';
import { isRecord } from '../../protocol/base/json.ts';
import type { McpLibrary } from './mcpLibrary.ts';

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
