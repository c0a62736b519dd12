import { isRecord, tryJson, withoutUndefined } from '../../../protocol/base/json.ts';
import type { ToolCall } from '../../../protocol/messages/chat.ts';
import { builtinTool, editTexts, type ToolArgument } from './builtinTools.ts';

type Fields = Readonly<Record<string, unknown>>;

const commandNames = ['bash', 'shell', 'run_command', 'terminal', 'execute_command'];

/** What a model reads that calls a tool which nobody offers; undefined if there is nothing to say. */
export function adviceOnTool(name: string, checks: readonly string[] = []): string | undefined {
  if (!commandNames.includes(name)) return undefined;
  const known = checks.length === 0 ? '' : ` Checks: ${checks.join(', ')}.`;
  return `No command is run here.${known} Tell the user which command to run.`;
}

/** The command that a call wants to run in a shell; undefined if it wants something else. */
export function commandOf({ name, arguments: given }: ToolCall): string | undefined {
  if (!commandNames.includes(name)) return undefined;
  const value = givenValue(given, ['command', 'cmd', 'script', 'input', 'code']);
  const words = Array.isArray(value) && /^(?:ba|z)?sh$/.test(String(value[0])) ? value.slice(2) : value;
  const text = Array.isArray(words) ? words.join(' ') : words;
  return typeof text === 'string' ? text : undefined;
}

/**
 * The arguments of a call as they are meant: under our names, with the types that are due. What no schema has is left
 * out, and so is null. What cannot be meant stays as it is, for the check of the schema.
 */
export function argumentsAsMeant(tool: string, given: Fields): Fields {
  const known = builtinTool(tool)?.arguments;
  if (known === undefined) return given;
  const found = valuesOf(given, known);
  if (tool === 'read_file') return withLines(found);
  if (tool === 'search_files' && givenValue(given, ['regexp']) !== undefined)
    return { regex: true, ...found };
  return withoutFences(tool === 'edit_file' ? withEdits(found) : found);
}

function valuesOf(given: Fields, known: Readonly<Record<string, ToolArgument>>): Fields {
  return Object.fromEntries(
    Object.entries(known).flatMap(([key, { type, names = [] }]) => {
      const value = givenValue(given, [key, ...names]);
      return value === undefined || value === null ? [] : [[key, asDue(value, type)]];
    }),
  );
}

/** Our own key counts first, then the others in their order. */
function givenValue(given: Fields, names: readonly string[]): unknown {
  const [own = ''] = names;
  if (Object.hasOwn(given, own)) return given[own];
  const bare = (key: string) => key.toLowerCase().replace(/[_-]/g, '');
  const keys = names.flatMap((name) => Object.keys(given).find((key) => bare(key) === bare(name)) ?? []);
  return keys[0] === undefined ? undefined : given[keys[0]];
}

function asDue(value: unknown, type: ToolArgument['type']): unknown {
  if (type === 'string') return /^(number|boolean)$/.test(typeof value) ? String(value) : value;
  if (type === 'boolean') return value === 'true' || (value === 'false' ? false : value);
  if (type === 'integer')
    return typeof value === 'string' && /^\s*-?\d{1,9}(\.0*)?\s*$/.test(value) ? Number(value) : value;
  const parsed = typeof value === 'string' ? (tryJson(value) ?? value) : value;
  return isRecord(parsed) ? [parsed] : parsed;
}

/** Lines count from 1. An end before the start is none. */
function withLines({ limit, start_line: start, end_line: end, ...given }: Fields): Fields {
  const from = typeof start === 'number' ? Math.max(1, start) : start;
  const first = typeof from === 'number' ? from : 1;
  const last = end === undefined && typeof limit === 'number' && limit > 0 ? first + limit - 1 : end;
  const isBefore = typeof last === 'number' && last < first;
  return withoutUndefined<Fields>({ ...given, start_line: from, end_line: isBefore ? undefined : last });
}

const maxEdits = 100;

/** The edits of a call, each as a call of its own: several of one file are a list. */
export function editsIn({ edits, ...call }: Fields): readonly Fields[] {
  if (edits === undefined) return [call];
  if (!Array.isArray(edits) || edits.length === 0 || edits.length > maxEdits) return [{ ...call, edits }];
  return edits.map((edit: unknown) => ({ ...call, ...(isRecord(edit) ? edit : {}) }));
}

/** One edit is flat; several are a list, as the tool was described before. */
function withEdits({ edits, ...given }: Fields): Fields {
  if (edits === undefined || 'old_string' in given) return given;
  if (!Array.isArray(edits)) return { ...given, edits };
  const flat = edits.map((edit: unknown) => (isRecord(edit) ? valuesOf(edit, editTexts) : edit));
  const [only, ...others] = flat;
  return others.length === 0 && isRecord(only) ? { ...given, ...only } : { ...given, edits: flat };
}

/** A text that is one Markdown fence loses it, unless the file is Markdown. The text of a whole file ends its line. */
function withoutFences(given: Fields): Fields {
  const path = given['path'];
  if (typeof path === 'string' && /\.(md|mdx|markdown)$/i.test(path)) return given;
  const whole = given['old_string'] === '' ? 'new_string' : 'content';
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      /^(content|old_string|new_string)$/.test(key) && typeof value === 'string'
        ? unfenced(value, key === whole)
        : value,
    ]),
  );
}

function unfenced(text: string, isWhole: boolean): string {
  const [, inside] = /^\s*```[^\n`]*\n([\s\S]*?)\n?```\s*$/.exec(text) ?? [];
  if (inside === undefined || inside.includes('```')) return text;
  return isWhole && inside !== '' ? `${inside}\n` : inside;
}
