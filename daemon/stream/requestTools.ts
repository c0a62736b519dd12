import { tryParseValue } from './forms/values.ts';

/** What the parser needs to know about a tool in the request. */
export interface ToolShape {
  readonly name: string;
  readonly inputSchema?: unknown;
}

/** The tools that a model may call in one request, found by the names that models write for them. */
export class RequestTools {
  readonly isEmpty: boolean;
  readonly #byName = new Map<string, ToolShape>();
  /** Undefined marks a spelling that two tools share. It refers to neither of them. */
  readonly #bySpelling = new Map<string, ToolShape | undefined>();
  readonly #byFoldedSpelling = new Map<string, ToolShape | undefined>();

  constructor(tools: readonly ToolShape[]) {
    this.isEmpty = tools.length === 0;
    for (const tool of tools) {
      this.#byName.set(tool.name, tool);
      const spelling = spellingOf(tool.name);
      const folded = spelling.toLowerCase();
      this.#bySpelling.set(spelling, this.#bySpelling.has(spelling) ? undefined : tool);
      this.#byFoldedSpelling.set(folded, this.#byFoldedSpelling.has(folded) ? undefined : tool);
    }
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /**
   * The tool that a model means. Templates rename tools (`functions.read_file`, `get_weather` for `get weather`), so an
   * unknown name may still be exactly one tool's name in another spelling.
   */
  find(name: string): ToolShape | undefined {
    const bare = name.trim().replace(/^(["'`])(.*)\1$/s, '$2');
    const known = this.#byName.get(bare);
    if (known !== undefined || bare === '') return known;
    const spelling = spellingOf(withoutWrapping(bare));
    // Glimmer may put the namespace of a tool before its name once more.
    const [, space = '', own = ''] = /^([^.]+)\.(.+)$/.exec(bare) ?? [];
    const repeated = own === space || own.startsWith(`${space}.`) ? this.#byName.get(own) : undefined;
    return this.#bySpelling.get(spelling) ?? this.#byFoldedSpelling.get(spelling.toLowerCase()) ?? repeated;
  }

  /** Whether the schema of a tool refuses arguments: one that it requires is missing, or one has another type. */
  refuses(name: string, given: Readonly<Record<string, unknown>>): boolean {
    const schema = this.find(name)?.inputSchema;
    if (missingArguments(given, schema).length > 0) return true;
    const properties = propertiesOf(schema);
    return Object.entries(given).some(([key, value]) => {
      const types = typesOf(Object.hasOwn(properties, key) ? properties[key] : undefined, 0);
      return types.size > 0 && !typeNames(value).some((one) => types.has(one));
    });
  }

  /** Whether an incomplete name can still become a tool's name. */
  mayBecome(word: string): boolean {
    if (word.length > 256) return false;
    const spelling = spellingOf(word).toLowerCase();
    for (const known of this.#byFoldedSpelling.keys()) if (known.startsWith(spelling)) return true;
    return 'functions.'.startsWith(word) || /^functions?[.:/]$/.test(word);
  }
}

/** A name without the channel, the namespace and the number that servers leave around it (gpt-oss, Gemini, Kimi). */
function withoutWrapping(name: string): string {
  const called = /\bto=([^\s<]+)/.exec(name)?.[1] ?? name;
  return called
    .replace(/<\|.*$/s, '')
    .replace(/^(?:default_api|tools?)[.:]/, '')
    .replace(/:\d+$/, '');
}

function spellingOf(name: string): string {
  return name.replace(/^functions?[.:/]/, '').replace(/[^\p{L}\p{N}]+/gu, '_');
}

type Parser = (text: string) => unknown;

/** Reads a word as a value of a schema's type; undefined if it is not one. */
const parsers: Record<string, Parser> = {
  integer: (text) => (/^[-+]?\d+$/.test(text) ? Number(text) : undefined),
  number: (text) => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined),
  boolean: (text) => ({ true: true, false: false })[text.toLowerCase()],
  null: (text) => (/^(?:null|none)$/i.test(text) ? null : undefined),
  array: (text) => [tryParseValue(text)].find(Array.isArray),
  object: (text) => [tryParseValue(text)].find(isRecord),
};

/** Wider types come last: with integer or string, `"5"` is a number. */
const order = ['null', 'boolean', 'integer', 'number', 'array', 'object'];

/**
 * Gives arguments that are bare words (values of elements), or lists and objects of them, the types in the tool's
 * schema. A word that is not a value of its type stays text, because the tool itself can best explain what is wrong
 * with it.
 */
export function coerceArguments(
  given: Readonly<Record<string, unknown>>,
  words: ReadonlySet<string>,
  inputSchema: unknown,
): Record<string, unknown> {
  const properties = propertiesOf(inputSchema);
  const known: KnownTypes = new WeakMap();
  return Object.fromEntries(
    Object.entries(given).map(([key, word]) => [
      key,
      words.has(key) && Object.hasOwn(properties, key) ? coerceAll(word, properties[key], known) : word,
    ]),
  );
}

/** The types of each schema of a call. They are kept, because many words may share a schema. */
type KnownTypes = WeakMap<object, ReadonlySet<string>>;

function coerceAll(value: unknown, schema: unknown, known: KnownTypes): unknown {
  if (typeof value === 'string') return coerce(value, schema, known);
  if (!isRecord(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => coerceAll(item, schema['items'], known));
  if (!isRecord(value)) return value;
  const properties = propertiesOf(schema);
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const own = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties'];
      return [key, coerceAll(part, own, known)];
    }),
  );
}

/** The names of arguments that a schema requires and a call lacks. */
export function missingArguments(given: Readonly<Record<string, unknown>>, inputSchema: unknown): string[] {
  const required = isRecord(inputSchema) ? inputSchema['required'] : undefined;
  if (!Array.isArray(required)) return [];
  return required.filter((name): name is string => typeof name === 'string' && !Object.hasOwn(given, name));
}

function typeNames(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

function coerce(word: string, schema: unknown, known: KnownTypes): unknown {
  if (!isRecord(schema)) return word;
  const types = known.get(schema) ?? typesOf(schema, 0);
  known.set(schema, types);
  const trimmed = word.trim();
  for (const type of order) {
    const value = types.has(type) ? parsers[type]?.(trimmed) : undefined;
    if (value !== undefined) return value;
  }
  return word;
}

function typesOf(schema: unknown, depth: number): Set<string> {
  if (!isRecord(schema) || depth > 8) return new Set();
  const own = [schema['type']].flat().filter((type) => typeof type === 'string');
  const choices = [schema['anyOf'], schema['oneOf']].filter(Array.isArray).flat();
  return new Set([...own, ...choices.flatMap((choice) => [...typesOf(choice, depth + 1)])]);
}

/** What a schema declares of an object, by name. */
export function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  return isRecord(properties) ? properties : {};
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
