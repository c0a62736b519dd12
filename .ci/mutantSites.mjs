// Where the product can be mutated, and how: the expressions and statements of a TypeScript file, each with what stands
// there instead. Left out are types, imports, and everything that is only wording, such as what is logged or thrown:
// a sentence that reads differently proves little.
import ts from 'typescript';

/** What each comparison becomes: its opposite, and where there is one, the comparison with the other boundary. */
const comparisons = {
  '<': ['>=', '<='],
  '<=': ['>', '<'],
  '>': ['<=', '>='],
  '>=': ['<', '>'],
  '===': ['!=='],
  '!==': ['==='],
  '==': ['!='],
  '!=': ['=='],
};

const logic = { '&&': '||', '||': '&&' };
const arithmetic = { '-': '+', '*': '/', '/': '*', '%': '*' };

const otherMethods = new Map(
  Object.entries({ some: 'every', every: 'some', min: 'max', max: 'min', startsWith: 'endsWith' }),
);
const droppedMethods = new Set(['filter', 'trim', 'toLowerCase', 'sort', 'toSorted', 'reverse']);

/** Calls that only log, or only let the process end earlier. */
const loggingCall = /(?:^|\.)(?:log(?:ger)?(?:\??\.\w+)?|unref)$/;
const wordy =
  /^(?:message|title|detail|description|label|hint|tooltip|placeHolder|prompt|help|usage|summary)$/;

/**
 * All mutants of a file: `kind`, `start` and `end` of what is replaced, what `was` there and what it `becomes`. A
 * statement becomes an empty one.
 */
export function mutantsOf(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const add = (kind, node, becomes) => {
    const [start, end] = [node.getStart(file), node.getEnd()];
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ path, line, kind, start, end, was: text.slice(start, end), becomes });
  };
  const visit = (node) => {
    if (isLeftOut(node)) return;
    for (const [kind, becomes, place = node] of changesOf(node)) add(kind, place, becomes);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isLeftOut(node) {
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true;
  if (ts.isThrowStatement(node)) return true;
  if (ts.isNewExpression(node)) return /Error$/.test(node.expression.getText());
  if (ts.isCallExpression(node)) {
    const called = node.expression.getText();
    return /^(?:import|require)$|Error$/.test(called) || loggingCall.test(called);
  }
  if (ts.isPropertyAssignment(node)) return wordy.test(node.name.getText());
  if (ts.isArrayLiteralExpression(node)) return node.elements.some(isSentence);
  if (ts.isIfStatement(node)) return isLogging(node.thenStatement);
  return (
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isModuleDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  );
}

/** Each with its kind, what it becomes, and the node that is replaced, if that is not `node`. */
function changesOf(node) {
  if (ts.isBinaryExpression(node)) return changesOfBinary(node);
  if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition;
    // A comparison and a negation are changed for themselves.
    if (isComparison(condition) || isNegation(condition)) return [];
    return [['negated condition', `!(${condition.getText()})`, condition]];
  }
  if (isNegation(node)) return [['dropped negation', node.operand.getText()]];
  if (ts.isAwaitExpression(node))
    return isWaitedForAnyway(node) ? [] : [['dropped await', node.expression.getText()]];
  if (ts.isExpressionStatement(node)) return isDroppable(node) ? [['dropped call', ';']] : [];
  if (ts.isReturnStatement(node)) return changesOfReturn(node.expression);
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return changesOfReturn(node.body);
  if (ts.isCallExpression(node)) return changesOfCall(node);
  if (ts.isNumericLiteral(node)) return changesOfNumber(node);
  if (ts.isStringLiteralLike(node)) return isPlainText(node) ? [['emptied string', "''"]] : [];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0 && !isTarget(node))
    return [['emptied array', '[]']];
  return [];
}

function changesOfBinary({ left, operatorToken, right }) {
  const operator = operatorToken.getText();
  const sides = (other) => `${left.getText()} ${other} ${right.getText()}`;
  if (operator in comparisons)
    return comparisons[operator].map((other, index) => [
      index === 0 ? 'flipped comparison' : 'moved boundary',
      sides(other),
    ]);
  if (operator in logic) return [['other logic', sides(logic[operator])]];
  if (operator === '??') return [['dropped default', left.getText()]];
  if (operator in arithmetic) return [['other arithmetic', sides(arithmetic[operator])]];
  if (operator === '+' && ts.isNumericLiteral(right)) return [['other arithmetic', sides('-')]];
  return [];
}

function changesOfCall(node) {
  if (!ts.isPropertyAccessExpression(node.expression)) return [];
  // Part of an optional chain cannot stand alone.
  if (ts.isOptionalChain(node)) return [];
  const { expression: subject, name } = node.expression;
  const method = name.getText();
  const args = node.arguments.map((arg) => arg.getText()).join(', ');
  const other = otherMethods.get(method);
  if (other) return [['other method', `${subject.getText()}.${other}(${args})`]];
  return droppedMethods.has(method) ? [['dropped method', subject.getText()]] : [];
}

function changesOfReturn(expression) {
  const was = expression?.getText() ?? 'undefined';
  if (was === 'true' || was === 'false') return [['flipped answer', String(was !== 'true'), expression]];
  return /^(?:undefined$|void |null$|\[\]$|\{\}$)/.test(was)
    ? []
    : [['returned nothing', 'undefined', expression]];
}

/** A large number is a limit of time or size, of which one more proves nothing. */
function changesOfNumber(node) {
  const value = Number(node.text);
  if (!Number.isInteger(value) || value >= 1000 || isKey(node)) return [];
  return [['changed number', value === 1 ? '0' : String(value + 1)]];
}

/** A word of a program or a mark of a text, not a sentence. */
function isPlainText(node) {
  if (node.text === '' || isKey(node) || ts.isTaggedTemplateExpression(node.parent)) return false;
  return /^[^A-Z\s]{1,30}$/.test(node.text) || !/[a-z]/i.test(node.text);
}

function isSentence(node) {
  return ts.isStringLiteralLike(node) && /[a-z] [a-z]/i.test(node.text);
}

function isLogging(node) {
  return ts.isExpressionStatement(node) && ts.isCallExpression(node.expression) && isLeftOut(node.expression);
}

/** The caller waits for what an async function returns; only a `try` must wait itself. */
function isWaitedForAnyway({ parent }) {
  if (!ts.isReturnStatement(parent)) return false;
  return !ts.findAncestor(parent, (node) => (ts.isFunctionLike(node) ? 'quit' : ts.isTryStatement(node)));
}

function isDroppable({ expression }) {
  const call = ts.isAwaitExpression(expression) ? expression.expression : expression;
  return ts.isCallExpression(call) && call.expression.kind !== ts.SyntaxKind.SuperKeyword && !isLeftOut(call);
}

function isComparison(node) {
  return ts.isBinaryExpression(node) && node.operatorToken.getText() in comparisons;
}

function isNegation(node) {
  return ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken;
}

function isKey(node) {
  const { parent } = node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return (ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) && parent.name === node;
}

/** `[a] = b` is written to. */
function isTarget(node) {
  return ts.isBinaryExpression(node.parent) && node.parent.left === node;
}
