/** A message of JSON-RPC as a page shows it. */
export interface ShownMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

const block = /^```json\n(\{ "jsonrpc"[\s\S]*?)^```$/gm;

/** The messages of a page, in its order. */
export function messagesIn(page: string): readonly ShownMessage[] {
  return [...page.matchAll(block)].flatMap(([, text = '']) =>
    text.split(/\n(?=\{)/).map((message): ShownMessage => JSON.parse(message)),
  );
}

/** The page with other messages in its blocks, in the same order. */
export function withMessages(page: string, messages: readonly ShownMessage[]): string {
  let at = 0;
  return page.replace(block, (_, text: string) => {
    const shown = text.split(/\n(?=\{)/).map(() => printed(messages[at++]));
    return `\`\`\`json\n${shown.join('\n')}\n\`\`\``;
  });
}

/** JSON in lines of at most 140 characters, with as few of them as possible. */
function printed(value: unknown, indent = ''): string {
  const line = inOneLine(value);
  if (indent.length + line.length <= 140 || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => printed(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printed(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  // Short fields at the beginning, such as the id and the method, share a line.
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && !`${last}${part}`.includes('\n') && `${inner}${last}, ${part},`.length <= 140)
      lines[lines.length - 1] = `${last}, ${part}`;
    else lines.push(part);
  }
  return `${open}${Array.isArray(value) ? `\n${inner}` : ' '}${lines.join(`,\n${inner}`)} ${close}`;
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${inOneLine(item)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** Names and types of a value, whole; of a list as many items as the example has. */
export function shapeOf(value: unknown, example: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(example))
    return value
      .slice(0, Math.max(1, example.length))
      .map((item, index) => shapeOf(item, example[index] ?? example[0]));
  if (typeof value !== 'object' || value === null) return typeof value;
  const shown = Object(example);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, shapeOf(item, shown[key])]),
  );
}

/** A value with the words of an example wherever that has the same shape. */
export function inWordsOf(example: unknown, value: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(example))
    return value
      .slice(0, Math.max(1, example.length))
      .map((item, index) => inWordsOf(example[index] ?? example[0], item));
  if (typeof value !== 'object' || value === null || typeof example !== 'object' || example === null)
    return typeof value === typeof example ? example : value;
  const shown = Object(example);
  const kept = Object.keys(example).filter((key) => key in value);
  const added = Object.keys(value).filter((key) => !(key in example));
  return Object.fromEntries(
    [...kept, ...added].map((key) => [
      key,
      key in example ? inWordsOf(shown[key], Reflect.get(value, key)) : Reflect.get(value, key),
    ]),
  );
}
