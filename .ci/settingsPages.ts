import * as z from 'zod/mini';
import { type SettingName, settings } from '../daemon/config/settingsTable.ts';

/** Of JSON Schema what VS Code's manifest and the pages use. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ValueSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

export interface ManifestSetting extends ValueSchema {
  readonly scope: string;
  readonly description?: string;
  readonly markdownDescription?: string;
}

export const names = Object.keys(settings) as readonly SettingName[];

/** A row with all that rows may have. */
export function rowOf(name: SettingName): {
  readonly says: string;
  readonly default?: unknown;
  readonly counts?: string;
  readonly isGroup?: true;
} {
  return settings[name];
}

function valueSchemaOf(name: SettingName): ValueSchema {
  return simplified(z.toJSONSchema(settings[name].schema()) as JsonSchema);
}

interface JsonSchema extends ValueSchema {
  readonly anyOf?: readonly JsonSchema[];
}

/** Every whole number has a limit in JSON Schema, the largest safe integer, which is of no interest here. */
const largest = 2 ** 31;

function simplified(schema: JsonSchema): ValueSchema {
  const { anyOf, items, properties, required, additionalProperties, enum: choices } = schema;
  const { minimum, maximum } = schema;
  const types = [
    ...new Set(anyOf ? anyOf.map(({ type }) => String(type)) : [String(schema.type ?? 'object')]),
  ].sort();
  const [only] = types;
  return {
    type: types.length === 1 && only !== undefined ? only : types,
    ...(choices ? { enum: choices } : {}),
    ...(items ? { items: simplified(items) } : {}),
    ...(properties ? { properties: mapped(properties, simplified), additionalProperties: false } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: simplified(additionalProperties) }
      : {}),
    ...(required && required.length > 0 ? { required } : {}),
    ...(minimum !== undefined && minimum > -largest ? { minimum } : {}),
    ...(maximum !== undefined && maximum < largest ? { maximum } : {}),
  };
}

/** The names that a setting has in VS Code's manifest: its own, or those of its parts. */
export function manifestNames(name: SettingName): readonly string[] {
  const { properties = {} } = valueSchemaOf(name);
  return rowOf(name).isGroup
    ? Object.keys(properties).map((part) => `runner.${name}.${part}`)
    : [`runner.${name}`];
}

/** As VS Code's manifest must have it; what it says besides, such as descriptions of parts, stays. */
export function toManifest(
  name: SettingName,
  manifestName: string,
  old: ManifestSetting | undefined,
): ManifestSetting {
  const { says, isGroup, default: whole } = rowOf(name);
  const part = manifestName.slice(`runner.${name}.`.length);
  const value = isGroup ? Reflect.get(Object(whole), part) : whole;
  const all = valueSchemaOf(name);
  const schema = merged(old, (isGroup ? all.properties?.[part] : undefined) ?? all, value);
  const { description: _, markdownDescription: __, ...rest } = schema as ManifestSetting;
  return {
    ...rest,
    default: old?.default ?? value ?? emptyOf(schema),
    scope: old?.scope ?? 'machine',
    ...(says.includes('`') ? { markdownDescription: says } : { description: says }),
  };
}

function merged(old: ValueSchema | undefined, schema: ValueSchema, defaults: unknown): ValueSchema {
  const { items, properties } = schema;
  const given = (key: string) =>
    typeof defaults === 'object' && defaults !== null ? Reflect.get(defaults, key) : undefined;
  return {
    ...old,
    ...schema,
    ...(items ? { items: merged(old?.items, items, undefined) } : {}),
    ...(properties
      ? {
          properties: mapped(properties, (property, key) => ({
            ...merged(old?.properties?.[key], property, undefined),
            ...(given(key) === undefined ? {} : { default: given(key) }),
          })),
        }
      : {}),
  };
}

function emptyOf({ type }: ValueSchema): unknown {
  if (type === 'array') return [];
  if (type === 'object') return {};
  if (type === 'boolean') return false;
  return type === 'integer' || type === 'number' ? 0 : '';
}

/** The table of docs/PROTOCOL.md. */
export function protocolTable(): string {
  const rows = names.map((name) => {
    const { says, default: value, counts = 'with trust' } = rowOf(name);
    const shown = value === undefined ? '' : `\`${JSON.stringify(value)}\``;
    return `| \`${name}\` | \`${shapeOf(valueSchemaOf(name)).replace(/\|/g, '\\|')}\` | ${shown} | ${counts} | ${says} |`;
  });
  return ['| key | type | default | counts | what |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** The rows of docs/VSCODE.md. */
export function editorTable(properties: Readonly<Record<string, ManifestSetting>>): string {
  const rows = Object.entries(properties).map(([name, setting]) => {
    const {
      type = '',
      enum: choices,
      default: value,
      description,
      markdownDescription = description,
    } = setting;
    const shown = value === '' ? '' : `\`${JSON.stringify(value).replace(/^"|"$/g, '')}\``;
    const types = choices ? choices.map((choice) => `\`${choice}\``).join(', ') : [type].flat().join(' or ');
    return `| \`${name}\` | ${types} | ${shown} | ${markdownDescription} |`;
  });
  return ['| setting | type | default | what it does |', '|---|---|---|---|', ...rows].join('\n');
}

/** The list of Neovim: for `setup` what each value must be. */
export function luaModule(own: readonly SettingName[]): string {
  return [
    '--- Those of docs/PROTOCOL.md: made from daemon/config/settingsTable.ts, to which a test holds it.',
    '---@type { name: string, schema: runner.Schema }[]',
    'return {',
    ...own.map((name) => `  { name = '${name}', schema = ${luaSchemaOf(valueSchemaOf(name))} },`),
    '}',
    '',
  ].join('\n');
}

function luaSchemaOf(schema: ValueSchema): string {
  const { type, enum: choices, items, properties, required, additionalProperties, minimum, maximum } = schema;
  const fields = [
    ...(type === undefined ? [] : [`type = ${typeof type === 'string' ? `'${type}'` : luaTexts(type)}`]),
    ...(choices ? [`enum = ${luaTexts(choices)}`] : []),
    ...(minimum === undefined ? [] : [`minimum = ${minimum}`]),
    ...(maximum === undefined ? [] : [`maximum = ${maximum}`]),
    ...(items ? [`items = ${luaSchemaOf(items)}`] : []),
    ...(properties
      ? [
          `properties = { ${Object.entries(properties)
            .map(([key, value]) => `${key} = ${luaSchemaOf(value)}`)
            .join(', ')} }`,
        ]
      : []),
    ...(required ? [`required = ${luaTexts(required)}`] : []),
    ...(typeof additionalProperties === 'object' ? [`values = ${luaSchemaOf(additionalProperties)}`] : []),
  ];
  return `{ ${fields.join(', ')} }`;
}

function luaTexts(texts: readonly string[]): string {
  return `{ ${texts.map((text) => `'${text}'`).join(', ')} }`;
}

/** The list of the help page of Neovim, 78 columns wide. */
export function luaHelp(own: readonly SettingName[]): string {
  const indent = 2 + Math.max(...own.map(({ length }) => length)) + 2;
  return own
    .flatMap((name) => {
      const lines = wrapped(rowOf(name).says, 78 - indent);
      return lines.map((line, index) => (index === 0 ? `  ${name}` : '').padEnd(indent) + line);
    })
    .join('\n');
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function shapeOf(schema: ValueSchema): string {
  const { type = '', enum: choices, items, properties, required = [], additionalProperties } = schema;
  if (choices) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  if (items) return items.properties ? `[${shapeOf(items)}]` : `${shapeOf(items)}[]`;
  if (properties) {
    const fields = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
    return `{ ${fields.join(', ')} }`;
  }
  if (typeof additionalProperties === 'object') return `{ [name]: ${shapeOf(additionalProperties)} }`;
  return [type].flat().join(' | ');
}

function mapped<T, R>(
  record: Readonly<Record<string, T>>,
  change: (value: T, key: string) => R,
): Readonly<Record<string, R>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
