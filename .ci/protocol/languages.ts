import { protocolVersion } from '../../protocol/messages/initialize.ts';
import type { JsonSchema, ProtocolTypes } from './schema.ts';

const made = `Made from protocol/messages of Runner by "npm run generate": version ${protocolVersion} of its protocol.`;

/** What a language writes for a type, besides the names of types. */
interface Words {
  readonly basics: Readonly<Record<string, string>>;
  readonly unknown: string;
  list(item: string): string;
  map(value: string): string;
  either(choices: readonly string[]): string;
  literal(values: readonly unknown[]): string;
  named(name: string): string;
}

function typeIn(
  words: Words,
  { $ref, anyOf, enum: values, items, additionalProperties, type }: JsonSchema,
): string {
  const inner = (schema: JsonSchema) => typeIn(words, schema);
  if ($ref) return words.named($ref.split('/').at(-1) ?? '');
  if (anyOf) return words.either(anyOf.map(inner));
  if (values) return words.literal(values);
  if (items) return words.list(inner(items));
  if (type === 'object')
    return words.map(typeof additionalProperties === 'object' ? inner(additionalProperties) : words.unknown);
  return words.basics[String(type)] ?? words.unknown;
}

const lua: Words = {
  basics: { string: 'string', integer: 'integer', number: 'number', boolean: 'boolean', null: 'nil' },
  unknown: 'any',
  list: (item) => (item.includes('|') ? `(${item})[]` : `${item}[]`),
  map: (value) => `table<string, ${value}>`,
  either: (choices) => choices.join('|'),
  literal: (values) =>
    values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join('|'),
  named: (name) => `runner.${name}`,
};

/** Annotations for the Lua language server. */
export function luaTypes({ types }: ProtocolTypes): string {
  const blocks = Object.entries(types).map(([name, schema]) => {
    const words = commentLines('--- ', schema.description);
    if (!schema.properties) return [...words, `---@alias runner.${name} ${typeIn(lua, schema)}`];
    const fields = fieldsOf(schema).map(({ key, isRequired, value }) =>
      `---@field ${key}${isRequired ? '' : '?'} ${typeIn(lua, value)} ${oneLine(value.description)}`.trimEnd(),
    );
    return [...words, `---@class runner.${name}`, ...fields];
  });
  return ['---@meta', `--- ${made}`, ...blocks.flatMap((lines) => ['', ...lines]), ''].join('\n');
}

const python: Words = {
  basics: { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' },
  unknown: 'Any',
  list: (item) => `List[${item}]`,
  map: (value) => `Dict[str, ${value}]`,
  either: (choices) => `Union[${choices.join(', ')}]`,
  literal: (values) =>
    `Literal[${values.map((value) => JSON.stringify(value).replace(/^[tf]/, capital)).join(', ')}]`,
  named: (name) => name,
};
const pythonKeywords = new Set(['from', 'global', 'class', 'def', 'pass', 'in', 'is']);

/** A module of dictionaries with types, and a protocol whose `request` knows what each method takes and returns. */
export function pythonTypes({ messages, types }: ProtocolTypes): string {
  const blocks = Object.entries(types).map(([name, schema]) => {
    if (!schema.properties)
      return [
        ...commentLines('# ', schema.description),
        `${name}: TypeAlias = ${JSON.stringify(typeIn(python, schema))}`,
      ];
    const fields = fieldsOf(schema).map(({ key, isRequired, value }) => {
      const type = JSON.stringify(typeIn(python, value));
      return { key, type: isRequired ? type : `NotRequired[${type}]`, words: oneLine(value.description) };
    });
    // A field with the name of a keyword cannot stand in a class.
    if (fields.some(({ key }) => pythonKeywords.has(key)))
      return [
        ...commentLines('# ', schema.description),
        `${name} = TypedDict(${JSON.stringify(name)}, {`,
        ...fields.map(({ key, type }) => `    ${JSON.stringify(key)}: ${type},`),
        '})',
      ];
    const lines = fields.flatMap(({ key, type, words }) => [
      `    ${key}: ${type}`,
      ...(words === '' ? [] : [`    ${docString(words)}`]),
    ]);
    const words = oneLine(schema.description);
    return [`class ${name}(TypedDict):`, ...(words === '' ? [] : [`    ${docString(words)}`]), ...lines];
  });
  const overloads = messages
    .filter(({ from, result }) => from === 'client' && result)
    .flatMap(({ method, params, result, description }) => [
      '    @overload',
      `    def request(self, method: Literal[${JSON.stringify(method)}], params: ${typeIn(python, params)}) -> ${typeIn(python, result ?? {})}:`,
      `        ${docString(description)}`,
      '        ...',
    ]);
  return [
    ...[
      `"""${made}"""`,
      'from typing import Any, Dict, List, Literal, NotRequired, Protocol, TypeAlias, TypedDict, Union, overload',
    ],
    ...blocks.flatMap((lines) => ['', '', ...lines]),
    ...['', '', 'class Daemon(Protocol):', '    """A connection to runnerd."""', ...overloads, ''],
  ].join('\n');
}

const lisp: Words = {
  basics: { string: 'string', integer: 'integer', number: 'number', boolean: 'boolean', null: 'null' },
  unknown: 'any',
  list: (item) => `(vector ${item})`,
  map: (value) => `(map ${value})`,
  either: (choices) => `(or ${choices.join(' ')})`,
  literal: (values) => `(member ${values.map((value) => JSON.stringify(value)).join(' ')})`,
  named: (name) => name,
};

/** A table of methods and one of types, with a command that shows what a method takes and returns. */
export function lispTable({ messages, types }: ProtocolTypes): string {
  const rows = Object.entries(types).map(([name, schema]) => {
    const words = oneLine(schema.description);
    if (!schema.properties) return `    (${name} ${JSON.stringify(words)} ${typeIn(lisp, schema)})`;
    const fields = fieldsOf(schema).map(
      ({ key, isRequired, value }) =>
        `\n     (:${key} ${isRequired ? 'required' : 'optional'} ${typeIn(lisp, value)} ${JSON.stringify(oneLine(value.description))})`,
    );
    return `    (${name} ${JSON.stringify(words)} plist${fields.join('')})`;
  });
  const methods = messages.map(
    ({ method, from, description, params, result }) =>
      `    (${JSON.stringify(method)} ${from} ${result ? 'request' : 'notification'}\n     ${typeIn(lisp, params)} ${result ? typeIn(lisp, result) : 'nil'}\n     ${JSON.stringify(oneLine(description))})`,
  );
  return lispFrame.replace('METHODS', () => methods.join('\n')).replace('TYPES', () => rows.join('\n'));
}

const lispFrame = `;;; runner-protocol.el --- The messages of runnerd  -*- lexical-binding: t; -*-
;; ${made}
;;; Commentary:
;; Parameters and results are plists, as jsonrpc.el has them.
;; \`M-x runner-protocol-describe' shows a method.
;;; Code:

(defconst runner-protocol-methods
  '(
METHODS
    )
  "For each method who sends it, its kind, parameters, result and purpose.")

(defconst runner-protocol-types
  '(
TYPES
    )
  "Each type: its name, what it is, and its fields or its values.")

(defun runner-protocol-describe (method)
  "Show what METHOD takes and returns, with the types in it."
  (interactive (list (completing-read "Method: " runner-protocol-methods nil t)))
  (let* ((row (or (assoc method runner-protocol-methods) (user-error "No such method")))
         (seen nil)
         (wanted (list (nth 3 row) (nth 4 row))))
    (with-help-window (help-buffer)
      (princ (format "%s, a %s from the %s\\n\\n%s\\n\\nparameters: %s\\nresult: %s\\n" method (nth 2 row) (nth 1 row)
                     (nth 5 row) (nth 3 row) (nth 4 row)))
      (while wanted
        (let* ((name (pop wanted)) (type (and (symbolp name) (assq name runner-protocol-types))))
          (cond ((consp name) (setq wanted (append (flatten-tree name) wanted)))
                ((and type (not (memq name seen)))
                 (push name seen)
                 (princ (format "\\n%s  %s\\n" name (nth 1 type)))
                 (dolist (part (cddr type))
                   (cond ((and (consp part) (keywordp (car part)))
                          (princ (format "  %s %s %s  %s\\n" (car part) (nth 1 part) (nth 2 part) (nth 3 part)))
                          (push (nth 2 part) wanted))
                         ((not (eq part 'plist)) (princ (format "  %s\\n" part)) (push part wanted)))))))))))

(provide 'runner-protocol)
;;; runner-protocol.el ends here
`;

function fieldsOf({ properties = {}, required = [] }: JsonSchema) {
  return Object.entries(properties).map(([key, value]) => ({
    key,
    value,
    isRequired: required.includes(key),
  }));
}

function commentLines(mark: string, text = ''): readonly string[] {
  return text === '' ? [] : text.split('\n').map((line) => mark + line);
}

function oneLine(text = ''): string {
  return text.replaceAll('\n', ' ');
}

function capital(letter: string): string {
  return letter.toUpperCase();
}

function docString(text: string): string {
  return `"""${text.replaceAll('\\', '\\\\').replace(/"$/, '" ')}"""`;
}
