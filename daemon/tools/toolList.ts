import { createHash } from 'node:crypto';
import { toUSVString } from 'node:util';
import * as z from 'zod/mini';
import { cutText } from '../../protocol/base/text.ts';
import type { ToolCall } from '../../protocol/messages/chat.ts';
import type { ListedTool, ToolAnnotations } from '../../protocol/messages/tools.ts';
import { isNestedTooDeep } from '../base/nesting.ts';
import { createYielder } from '../base/yielder.ts';
import type { DaemonTool, ToolAct } from '../chat/daemonTools.ts';

const maxTools = 1_000;
const maxPages = 100;
const maxName = 256;
const maxDescription = 1_024;
/** Of one schema as JSON, in characters. */
const maxSchema = 32 * 1024;
/** Of all schemas of a server. */
const maxSchemas = 8 * 1024 * 1024;
/** At most this many remarks about a list are logged, and then the number of the others. */
const maxSaid = 5;

/** A tool as its server lists it: under the name that the server gives it. */
export interface ServerTool extends ListedTool {
  /** A hash of the server's whole description of the tool, uncut. If it changes, earlier approvals no longer count. */
  readonly fingerprint: string;
  /**
   * Only of built-in tools. One approval is for all that read, which have the same fingerprint; none of an edit lasts
   * beyond the answer in which it was given.
   */
  readonly act?: ToolAct;
  /** How its calls are read. Only the built-in tool for checks has it. */
  readonly calls?: CallReading;
}

type Fields = Readonly<Record<string, unknown>>;

/** A tool whose approvals depend on the arguments. It runs after the other calls of its round. */
interface CallReading {
  readonly prepare: NonNullable<DaemonTool['prepare']>;
  readonly asMeant: (given: Fields) => Fields;
  /** The arguments, if the call of a tool that nobody offers means this one. */
  readonly meantBy: (call: ToolCall) => Fields | undefined;
  /** The names under which a client may allow the call, and what an approval of it holds for. */
  readonly approvalOf: (given: Fields) => { readonly tools: readonly string[]; readonly fingerprint: string };
}

export interface ToolPage {
  readonly tools: readonly unknown[];
  readonly nextCursor?: string | undefined;
}

/** The annotations that Runner knows. */
const annotationsSchema = z.object({
  title: z.exactOptional(z.string()),
  readOnlyHint: z.exactOptional(z.boolean()),
  destructiveHint: z.exactOptional(z.boolean()),
  idempotentHint: z.exactOptional(z.boolean()),
  openWorldHint: z.exactOptional(z.boolean()),
});
const toolSchema = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(maxName)),
  title: z.optional(z.string()),
  description: z.optional(z.string()),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z.catch(z.optional(annotationsSchema), undefined),
});

/** Reads the tools of a server page by page, within bounds. Each cut or omission is reported in a sentence. */
export async function readToolList(
  page: (cursor: string | undefined) => Promise<ToolPage>,
  say: (sentence: string) => void,
): Promise<readonly ServerTool[]> {
  const list = new BoundedList();
  const yieldNow = createYielder();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const { tools, nextCursor } = await page(cursor);
    for (const tool of tools) {
      list.add(tool);
      const pause = yieldNow();
      if (pause) await pause;
    }
    cursor = nextCursor || undefined;
    if (cursor === undefined || list.isFull || cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  if (cursor !== undefined)
    list.problems.push(
      list.isFull
        ? `It lists more than ${maxTools.toLocaleString('en-US')} tools; the rest is left out.`
        : 'Its list of tools does not end; the rest is left out.',
    );
  for (const problem of list.problems.slice(0, maxSaid)) say(problem);
  const more = list.problems.length - maxSaid;
  if (more > 0) say(`There are ${more} more remarks about its tools.`);
  return [...list.tools.values()];
}

class BoundedList {
  /** By their names. */
  readonly tools = new Map<string, ServerTool>();
  readonly problems: string[] = [];
  #schemas = 0;

  get isFull(): boolean {
    return this.tools.size >= maxTools;
  }

  add(value: unknown): void {
    const tool = this.isFull ? undefined : this.#read(value);
    if (tool) this.tools.set(tool.name, tool);
  }

  #read(value: unknown): ServerTool | undefined {
    const parsed = toolSchema.safeParse(value);
    if (!parsed.success) return this.#leaveOut('A tool', 'its description does not follow MCP');
    const { name, title, description = '', inputSchema, annotations } = parsed.data;
    const called = `The tool ${JSON.stringify(name)}`;
    if (this.tools.has(name)) return this.#leaveOut(called, 'another one has the same name');
    const schema = tryStringify(inputSchema);
    if (schema === undefined || isNestedTooDeep(schema))
      return this.#leaveOut(called, 'its schema is nested too deeply');
    if (schema.length > maxSchema)
      return this.#leaveOut(
        called,
        `its schema has ${schema.length.toLocaleString('en-US')} characters; at most 32,768 are sent to a model`,
      );
    this.#schemas += schema.length;
    if (this.#schemas > maxSchemas)
      return this.#leaveOut(called, 'the schemas of its server have more than 8 MB in total');
    if (description.length > maxDescription)
      this.problems.push(
        `The description of the tool ${JSON.stringify(name)} is cut at ${maxDescription.toLocaleString('en-US')} characters.`,
      );
    const known = annotations && Object.keys(annotations).length > 0 ? annotations : undefined;
    return {
      name,
      ...(title === undefined ? {} : { title: cutText(toUSVString(title), maxName) }),
      description: cutText(toUSVString(description), maxDescription),
      inputSchema,
      ...(known === undefined ? {} : { annotations: withCutTitle(known) }),
      fingerprint: fingerprintOf([name, title, description, inputSchema, known]),
    };
  }

  #leaveOut(what: string, why: string): undefined {
    this.problems.push(`${what} is left out: ${why}.`);
  }
}

function withCutTitle({ title, ...hints }: ToolAnnotations): ToolAnnotations {
  return title === undefined ? hints : { title: cutText(toUSVString(title), maxName), ...hints };
}

/** The order of keys does not count, because a server may change it. */
export function fingerprintOf(description: readonly unknown[]): string {
  const canonical = JSON.stringify(description, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(canonical).digest('hex');
}

/** The JSON of a value; undefined if it is nested too deeply. */
export function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
