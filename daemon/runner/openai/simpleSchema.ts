import { isRecord } from '../../../protocol/base/json.ts';
import type { Tool } from '../../../protocol/messages/chat.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The types that a grammar knows. */
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Keywords that every grammar takes as they are. All others, such as `pattern`, `format` and bounds, are left out. */
const plain = ['required', 'enum', 'const', 'description', 'title', 'default', 'examples', '$schema'];
const ofList = ['anyOf', 'oneOf', 'allOf'];
const byName = ['properties', '$defs', 'definitions'];
/** No tool nests its arguments deeper. */
const maxDepth = 32;

/**
 * The tool with a schema of which llama.cpp, and LM Studio with it, can make a grammar: patterns, formats and bounds
 * are refused there, and so are schemas that are only true or false. The schema allows all that the first one allows.
 */
export function withSimpleSchema(tool: Tool): Tool {
  return { ...tool, inputSchema: simplified(tool.inputSchema, 0) };
}

function simplified(schema: unknown, depth: number): Schema {
  if (!isRecord(schema) || depth > maxDepth) return {};
  const inside = (value: unknown) => simplified(value, depth + 1);
  const fields: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (plain.includes(keyword)) fields[keyword] = value;
    else if (keyword === 'type' && [value].flat().every((type) => types.includes(String(type))))
      fields[keyword] = value;
    else if (keyword === '$ref' && String(value).startsWith('#/')) fields[keyword] = value;
    else if (keyword === 'items') fields[keyword] = inside(value);
    else if (keyword === 'additionalProperties')
      fields[keyword] = typeof value === 'boolean' ? value : inside(value);
    else if (ofList.includes(keyword) && Array.isArray(value)) fields[keyword] = value.map(inside);
    else if (byName.includes(keyword) && isRecord(value))
      fields[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inside(one)]));
  }
  return fields;
}
