import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

/** Of JSON Schema what types of TypeScript become. */
export interface JsonSchema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  enum?: readonly unknown[];
  anyOf?: readonly JsonSchema[];
  items?: JsonSchema;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  additionalProperties?: boolean | JsonSchema;
  [keyword: string]: unknown;
}

/** A message of `protocol/messages`. */
export interface ProtocolMessage {
  readonly method: string;
  readonly from: 'client' | 'daemon';
  readonly description: string;
  readonly params: JsonSchema;
  /** Absent in a notification. */
  readonly result?: JsonSchema;
}

export interface ProtocolTypes {
  readonly messages: readonly ProtocolMessage[];
  /** By name, each once: all that messages refer to, and what has no message of its own. */
  readonly types: Readonly<Record<string, JsonSchema>>;
  /** The kinds of errors. */
  readonly errors: readonly Choice[];
}

interface Choice {
  readonly text: string;
  /** What its comment says, or nothing. */
  readonly description: string;
}

/** What clients need besides messages: they are parts of messages of LSP, or of errors. */
const ownTypes = [
  ...['InitializationOptions', 'RunnerCapabilities', 'ToolCapabilities', 'ErrorData', 'InvalidParamsData'],
  ...['SecretLine', 'SessionMessage'],
];

const folder = resolve('protocol', 'messages');

/** Reads the types of the messages, and their comments. Doc tags such as `@minimum 1` become keywords. */
export function readProtocol(): ProtocolTypes {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const program = ts.createProgram(files, {
    ...{
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      types: [],
      target: ts.ScriptTarget.ES2023,
    },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
    allowImportingTsExtensions: true,
  });
  const sources = files.flatMap((file) => program.getSourceFile(file) ?? []);
  const reader = createTypeReader(program.getTypeChecker());
  const messages = sources.flatMap((source) =>
    variablesOf(source).flatMap((variable) => reader.messageOf(variable) ?? []),
  );
  for (const statement of sources.flatMap((source) => [...source.statements]))
    if (ts.isInterfaceDeclaration(statement) && ownTypes.includes(statement.name.text))
      reader.define(statement);
  const codes = sources.flatMap(variablesOf).find(({ name }) => name.getText() === 'errorCodes');
  return {
    messages,
    types: Object.fromEntries([...reader.types].sort(([one], [other]) => (one < other ? -1 : 1))),
    errors: literalsIn(codes?.initializer),
  };
}

function variablesOf(source: ts.SourceFile): readonly ts.VariableDeclaration[] {
  return source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations]);
}

function createTypeReader(checker: ts.TypeChecker) {
  const types = new Map<string, JsonSchema>();

  /** `place` is the name that an object without a name gets. */
  const schemaOf = (type: ts.Type, node: ts.Node | undefined, place: string): JsonSchema => {
    if (node && (ts.isParenthesizedTypeNode(node) || ts.isTypeOperatorNode(node)))
      return schemaOf(type, node.type, place);
    // A type that is a union of texts may have lost the name that it has here.
    const reference =
      node && ts.isTypeReferenceNode(node) ? checker.getSymbolAtLocation(node.typeName) : undefined;
    const target =
      reference && reference.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(reference) : reference;
    const named = [target, type.aliasSymbol, type.symbol].find((symbol) => symbol && isOwn(symbol));
    if (named) {
      defineType(named.name, type, named.declarations?.[0]);
      return { $ref: `#/$defs/${named.name}` };
    }
    return contentOf(type, node, place);
  };

  const contentOf = (type: ts.Type, node: ts.Node | undefined, place: string): JsonSchema => {
    if (node && ts.isUnionTypeNode(node))
      return unionOf(
        node.types.map((part) => [checker.getTypeFromTypeNode(part), part]),
        place,
      );
    if (type.flags & ts.TypeFlags.Unknown) return {};
    if (type.flags & ts.TypeFlags.Null) return { type: 'null' };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { enum: [type.value] };
    if (type.flags & ts.TypeFlags.BooleanLiteral) return { enum: [checker.typeToString(type) === 'true'] };
    if (type.flags & ts.TypeFlags.BooleanLike) return { type: 'boolean' };
    if (type.flags & ts.TypeFlags.StringLike) return { type: 'string' };
    // A number of the protocol counts something, unless its comment says otherwise.
    if (type.flags & ts.TypeFlags.NumberLike) return { type: 'integer' };
    if (type.isUnion())
      return unionOf(
        type.types.map((part) => [part, undefined]),
        place,
      );
    if (checker.isTupleType(type)) return tupleOf(checker.getTypeArguments(type as ts.TypeReference), place);
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as ts.TypeReference);
      const inner = node && ts.isArrayTypeNode(node) ? node.elementType : undefined;
      return { type: 'array', items: item ? schemaOf(item, inner, `${place}Item`) : {} };
    }
    return objectOf(type, place);
  };

  const tupleOf = (parts: readonly ts.Type[], place: string): JsonSchema => ({
    ...{ type: 'array', minItems: parts.length, maxItems: parts.length },
    items: parts[0] ? schemaOf(parts[0], undefined, place) : {},
  });

  const unionOf = (
    parts: readonly (readonly [ts.Type, ts.Node | undefined])[],
    place: string,
  ): JsonSchema => {
    const isBoolean = ([type]: (typeof parts)[number]) => (type.flags & ts.TypeFlags.BooleanLiteral) !== 0;
    const choices = parts
      .filter((part) => !isBoolean(part))
      .map(([type, node]) => schemaOf(type, node, place + capital(kindOf(type))));
    if (choices.length < parts.length) choices.push({ type: 'boolean' });
    const literals = choices.flatMap((choice) => choice.enum ?? []);
    if (literals.length === choices.length) return { enum: literals };
    // A number beside something else may be a fraction, as in LSP's token.
    return { anyOf: choices.map((choice) => (choice.type === 'integer' ? { type: 'number' } : choice)) };
  };

  const kindOf = (type: ts.Type): string => {
    const kind = checker.getPropertyOfType(type, 'kind');
    const value = kind && checker.getTypeOfSymbol(kind);
    const first = value?.isUnion() ? value.types[0] : value;
    return first?.isStringLiteral() ? first.value : '';
  };

  const objectOf = (type: ts.Type, place: string): JsonSchema => {
    const values = checker.getIndexInfoOfType(type, ts.IndexKind.String)?.type;
    if (values && !(values.flags & ts.TypeFlags.Never)) {
      const schema = schemaOf(values, undefined, `${place}Value`);
      return { type: 'object', additionalProperties: Object.keys(schema).length === 0 ? true : schema };
    }
    const properties = checker.getPropertiesOfType(type);
    if (properties.length === 0 || types.has(place)) return fieldsOf(properties, place);
    types.set(place, {});
    types.set(place, fieldsOf(properties, place));
    return { $ref: `#/$defs/${place}` };
  };

  const fieldsOf = (properties: readonly ts.Symbol[], place: string): JsonSchema => {
    const required = properties
      .filter(({ flags }) => !(flags & ts.SymbolFlags.Optional))
      .map(({ name }) => name);
    return {
      type: 'object',
      properties: Object.fromEntries(
        properties.map((symbol) => [symbol.name, fieldOf(symbol, place + capital(symbol.name))]),
      ),
      ...(required.length === 0 ? {} : { required }),
    };
  };

  const fieldOf = (symbol: ts.Symbol, place: string): JsonSchema => {
    const declaration = symbol.declarations?.[0];
    const node = declaration && ts.isPropertySignature(declaration) ? declaration.type : undefined;
    const type = node ? checker.getTypeFromTypeNode(node) : checker.getTypeOfSymbol(symbol);
    return { ...schemaOf(type, node, place), ...wordsOf(symbol) };
  };

  const wordsOf = (symbol: ts.Symbol): JsonSchema => {
    const description = plain(ts.displayPartsToString(symbol.getDocumentationComment(checker)));
    const tags = symbol.getJsDocTags(checker).map(({ name, text }) => {
      const value = ts.displayPartsToString(text);
      return [name, /^(?:-?[\d.]+|true|false|[{["].*)$/s.test(value) ? JSON.parse(value) : value] as const;
    });
    return { ...(description === '' ? {} : { description }), ...Object.fromEntries(tags) };
  };

  const defineType = (name: string, type: ts.Type, declaration: ts.Declaration | undefined) => {
    if (types.has(name)) return;
    types.set(name, {});
    const isAlias = declaration !== undefined && ts.isTypeAliasDeclaration(declaration);
    const node = isAlias ? declaration.type : undefined;
    const symbol = declaration && checker.getSymbolAtLocation((declaration as ts.InterfaceDeclaration).name);
    const schema =
      isAlias || type.isUnion()
        ? contentOf(type, node, name)
        : fieldsOf(checker.getPropertiesOfType(type), name);
    const { description = '', ...words } = symbol ? wordsOf(symbol) : {};
    const choices = choicesIn(declaration);
    const told = choices.filter((choice) => choice.description !== '');
    const lines = [
      ...(description === '' ? [] : [description]),
      ...told.map((choice) => `- \`${choice.text}\`: ${choice.description}`),
    ];
    // The compiler has an order of its own.
    if (schema.enum && choices.length > 0) schema.enum = choices.map(({ text }) => text);
    types.set(name, {
      ...schema,
      ...words,
      ...(lines.length === 0 ? {} : { description: lines.join('\n') }),
    });
  };

  /** The choices of a type that is a union of texts, with what their comments say. */
  const choicesIn = (declaration: ts.Declaration | undefined) => {
    let node: ts.Node | undefined =
      declaration && ts.isTypeAliasDeclaration(declaration) ? declaration.type : undefined;
    if (node && ts.isIndexedAccessTypeNode(node)) node = node.objectType;
    if (node && ts.isParenthesizedTypeNode(node)) node = node.type;
    if (node && ts.isTypeOperatorNode(node)) node = node.type;
    const target = node && ts.isTypeQueryNode(node) ? checker.getSymbolAtLocation(node.exprName) : undefined;
    const variable = target?.valueDeclaration;
    return literalsIn(variable && ts.isVariableDeclaration(variable) ? variable.initializer : node);
  };

  const messageOf = ({ name, type, initializer }: ts.VariableDeclaration): ProtocolMessage | undefined => {
    if (!type || !ts.isTypeReferenceNode(type) || !initializer || !ts.isObjectLiteralExpression(initializer))
      return undefined;
    const [kind, [params, result] = []] = [type.typeName.getText(), type.typeArguments];
    const symbol = checker.getSymbolAtLocation(name);
    const [method] = initializer.properties
      .filter(ts.isPropertyAssignment)
      .map((property) => property.initializer);
    if (
      !/^(?:Request|Notification)Message$/.test(kind) ||
      !params ||
      !symbol ||
      !method ||
      !ts.isStringLiteral(method)
    )
      return undefined;
    const base = capital(name.getText().replace(/(?:Request|Notification)$/, ''));
    const words = wordsOf(symbol).description ?? '';
    const [, sender, description = ''] =
      /^(Client to daemon|Daemon to client)(?:, if [^:]*)?: (.*)$/s.exec(words) ?? [];
    if (sender === undefined)
      throw new Error(`The comment of ${method.text} does not begin with who sends it.`);
    const schemaAt = (node: ts.TypeNode, end: string) =>
      schemaOf(checker.getTypeFromTypeNode(node), node, base + end);
    return {
      ...{ method: method.text, from: sender.startsWith('Client') ? 'client' : 'daemon' },
      ...{
        description: description.charAt(0).toUpperCase() + description.slice(1),
        params: schemaAt(params, 'Params'),
      },
      ...(result ? { result: schemaAt(result, 'Result') } : {}),
    };
  };

  return {
    types,
    messageOf,
    define: (declaration: ts.InterfaceDeclaration) =>
      defineType(declaration.name.text, checker.getTypeAtLocation(declaration), declaration),
  };
}

/** Types of this folder that other files can name. */
function isOwn({ declarations: [declaration] = [] }: ts.Symbol): boolean {
  if (!declaration || !(ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration)))
    return false;
  const isExported = declaration.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
  return isExported && resolve(declaration.getSourceFile().fileName).startsWith(folder);
}

/** The texts of a union, of a list or of the keys of an object, each with its comment. */
function literalsIn(node: ts.Node | undefined): readonly Choice[] {
  if (node && ts.isAsExpression(node)) return literalsIn(node.expression);
  const parts: readonly ts.Node[] =
    node && ts.isUnionTypeNode(node)
      ? node.types
      : node && ts.isArrayLiteralExpression(node)
        ? node.elements
        : node && ts.isObjectLiteralExpression(node)
          ? node.properties
          : [];
  return parts.map((part, index) => ({
    text: (ts.isPropertyAssignment(part) ? part.name : part).getText().replace(/^'|'$/g, ''),
    // The bar of a union stands between the comment and its choice.
    description: commentAt(
      part,
      node && ts.isUnionTypeNode(node) ? (parts[index - 1]?.end ?? node.pos) : part.pos,
    ),
  }));
}

function commentAt(node: ts.Node, place: number): string {
  const text = node.getSourceFile().text;
  const range = ts.getLeadingCommentRanges(text, place)?.at(-1);
  return range
    ? plain(
        text
          .slice(range.pos, range.end)
          .replace(/^\/\*\*|\*\/$/g, '')
          .replace(/^\s*\* ?/gm, ''),
      )
    : '';
}

function plain(comment: string): string {
  return comment
    .replace(/\{@link ([^}]*)\}/g, '`$1`')
    .replace(/\s+/g, ' ')
    .trim();
}

function capital(text: string): string {
  return text.replace(/(?:^|[^A-Za-z0-9])([A-Za-z])/g, (_, letter: string) => letter.toUpperCase());
}
