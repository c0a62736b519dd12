/** What is read of the meta model of the Language Server Protocol. */
export interface MetaModel {
  readonly requests: readonly (MetaMessage & { readonly result: MetaType })[];
  readonly notifications: readonly MetaMessage[];
  readonly structures: readonly MetaStructure[];
  readonly enumerations: readonly MetaEnumeration[];
  readonly typeAliases: readonly { readonly name: string; readonly type: MetaType }[];
}

export interface MetaMessage {
  readonly method: string;
  readonly messageDirection: 'clientToServer' | 'serverToClient' | 'both';
  readonly params?: MetaType;
  readonly registrationMethod?: string;
  readonly registrationOptions?: MetaType;
}

interface MetaStructure {
  readonly name: string;
  readonly extends?: readonly MetaType[];
  readonly mixins?: readonly MetaType[];
  readonly properties: readonly MetaProperty[];
}

interface MetaProperty {
  readonly name: string;
  readonly type: MetaType;
  readonly optional?: boolean;
}

interface MetaEnumeration {
  readonly name: string;
  readonly type: MetaType;
  readonly supportsCustomValues?: boolean;
  readonly values: readonly { readonly value: string | number }[];
}

export type MetaType =
  | { readonly kind: 'base' | 'reference'; readonly name: string }
  | { readonly kind: 'array'; readonly element: MetaType }
  | { readonly kind: 'map'; readonly value: MetaType }
  | { readonly kind: 'or' | 'and' | 'tuple'; readonly items: readonly MetaType[] }
  | { readonly kind: 'literal'; readonly value: { readonly properties: readonly MetaProperty[] } }
  | { readonly kind: 'stringLiteral'; readonly value: string };

type Schema = Readonly<Record<string, unknown>> | true;

const bases: Readonly<Record<string, Schema>> = {
  URI: { type: 'string' },
  DocumentUri: { type: 'string' },
  RegExp: { type: 'string' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  decimal: { type: 'number' },
  integer: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  uinteger: { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 },
};
const any = 'LSPAny';

/** All types that have a name, as a JSON schema with definitions; its id is `lsp`. */
export function lspSchemas(model: MetaModel): Schema {
  return {
    $defs: Object.fromEntries([
      ...model.structures.map((structure) => [structure.name, structureSchema(structure, model)]),
      ...model.enumerations.map((enumeration) => [enumeration.name, enumerationSchema(enumeration, model)]),
      ...model.typeAliases.map(({ name, type }) => [name, schemaOfType(type, model)]),
      [any, true],
    ]),
  };
}

/** Where a structure is used it has no other properties than its own: one that is misspelt is found. */
export function schemaOfType(type: MetaType, model: MetaModel): Schema {
  const schemaOf = (inner: MetaType) => schemaOfType(inner, model);
  switch (type.kind) {
    case 'base':
      return bases[type.name] ?? { not: {} };
    case 'reference':
      return isStructure(type.name, model) ? closed([type]) : referenceTo(type);
    case 'and':
      return closed(type.items);
    case 'or':
      return { anyOf: type.items.map(schemaOf) };
    case 'array':
      return { type: 'array', items: schemaOf(type.element) };
    case 'tuple':
      return {
        type: 'array',
        prefixItems: type.items.map(schemaOf),
        minItems: type.items.length,
        items: false,
      };
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(type.value) };
    case 'literal':
      return { ...objectSchema(type.value.properties, model), additionalProperties: false };
    case 'stringLiteral':
      return { const: type.value };
  }
}

function structureSchema(
  { properties, extends: bases = [], mixins = [] }: MetaStructure,
  model: MetaModel,
): Schema {
  const inherited = [...bases, ...mixins].map(referenceTo);
  return { ...objectSchema(properties, model), ...(inherited.length === 0 ? {} : { allOf: inherited }) };
}

function objectSchema(properties: readonly MetaProperty[], model: MetaModel) {
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(({ name, type }) => [name, schemaOfType(type, model)])),
    required: properties.flatMap(({ name, optional }) => (optional ? [] : [name])),
  };
}

function enumerationSchema(
  { type, values, supportsCustomValues }: MetaEnumeration,
  model: MetaModel,
): Schema {
  return supportsCustomValues ? schemaOfType(type, model) : { enum: values.map(({ value }) => value) };
}

function closed(types: readonly MetaType[]): Schema {
  return { allOf: types.map(referenceTo), unevaluatedProperties: false };
}

function referenceTo(type: MetaType): Schema {
  if (type.kind !== 'reference')
    throw new Error(`The meta model has a ${type.kind} where a name is expected.`);
  return { $ref: `lsp#/$defs/${type.name}` };
}

function isStructure(name: string, { structures }: MetaModel): boolean {
  return structures.some((structure) => structure.name === name);
}
