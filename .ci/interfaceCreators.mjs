// Finds the interfaces that only one class or function stands behind.
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/**
 * Interfaces with behaviour that one class implements, or one function makes, and nobody else: they could be the type
 * of that class or function. What passes parameters on has no creator.
 */
export function interfacesWithOneCreator(parsed) {
  const creators = new Map();
  for (const { path, source } of parsed) {
    const imported = importedTypes(path, source);
    const idOf = (name) => imported.get(name) ?? `${path} ${name}`;
    for (const name of source.statements.flatMap((statement) => createdTypes(statement, source)))
      creators.set(idOf(name), (creators.get(idOf(name)) ?? 0) + 1);
  }
  return parsed.flatMap(({ path, source }) =>
    source.statements
      .filter((node) => ts.isInterfaceDeclaration(node) && hasBehaviour(node))
      .map(({ name }) => `${path} ${name.text}`)
      .filter((id) => creators.get(id) === 1),
  );
}

/** The names under which a file knows the types of others, with their files and their names there. */
function importedTypes(path, source) {
  const found = new Map();
  for (const { importClause, moduleSpecifier } of source.statements.filter(ts.isImportDeclaration)) {
    const names = importClause?.namedBindings;
    if (!moduleSpecifier.text.startsWith('.') || !names || !ts.isNamedImports(names)) continue;
    const target = normalize(join(dirname(path), moduleSpecifier.text));
    for (const { name, propertyName } of names.elements)
      found.set(name.text, `${target} ${(propertyName ?? name).text}`);
  }
  return found;
}

/** The types that a class implements, or that a function with the name of a creator returns. */
function createdTypes(node, source) {
  if (ts.isClassDeclaration(node))
    return (node.heritageClauses ?? [])
      .filter(({ token }) => token === ts.SyntaxKind.ImplementsKeyword)
      .flatMap(({ types }) => types.map(({ expression }) => expression.getText(source)));
  if (!ts.isFunctionDeclaration(node) || !/^(?:create|open|start|load|make)/.test(node.name?.text ?? ''))
    return [];
  const type = node.type && ts.isTypeReferenceNode(node.type) ? node.type : undefined;
  const isPromise = type?.typeName.getText(source) === 'Promise';
  const returned = isPromise ? type.typeArguments?.[0] : type;
  return returned && ts.isTypeReferenceNode(returned) ? [returned.typeName.getText(source)] : [];
}

function hasBehaviour({ members }) {
  return members.some(
    (member) =>
      ts.isMethodSignature(member) ||
      (ts.isPropertySignature(member) && member.type && ts.isFunctionTypeNode(member.type)),
  );
}
