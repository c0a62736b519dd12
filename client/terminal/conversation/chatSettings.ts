import { isRecord, tryJson, withoutUndefined } from '../../../protocol/base/json.ts';
import { count, showLine } from '../../../protocol/base/text.ts';
import type { AgentMode, Attachment, ChatParams, Message } from '../../../protocol/messages/chat.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import type { ConversationSettings, ReadSessionResult } from '../../../protocol/messages/sessions.ts';
import { type Approvals, builtinServer, type Checks } from '../../../protocol/messages/tools.ts';
import type { CommandContext } from '../cli/command.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { usageError } from '../cli/failure.ts';
import { type FlagName, thinkWordOf } from '../cli/flags.ts';
import { type Along, readFileAlong, readImage, readText } from './attachments.ts';

/** The settings of every turn, and what is attached to the next one. */
export interface ChatSettings {
  system: string | undefined;
  think: ChatParams['think'];
  /** The format of each answer. */
  readonly format: ChatParams['format'];
  /** The runner's own options. */
  options: Readonly<Record<string, unknown>>;
  /** Tokens of the context window; undefined leaves it to the runner. */
  context: number | undefined;
  readonly keepAlive: string | undefined;
  /** What a model may do with the built-in tools; undefined is the mode `ask`. */
  mode: AgentMode | undefined;
  /** Rounds of tools in one turn; undefined leaves them to the setting. */
  rounds: number | undefined;
  attachments: readonly Attachment[];
  images: readonly string[];
}

/** @throws {TerminalError} of the kind `usage`, if a file of the command line cannot be attached. */
export async function readChatSettings(
  cwd: string,
  { system, think, format, options, context, keepAlive, mode, rounds, files, images }: CommandLine,
): Promise<ChatSettings> {
  const along = await Promise.all(files.map((path) => readFileAlong(cwd, path)));
  return {
    system: system === undefined ? undefined : await readSystem(cwd, system),
    think,
    format: format === undefined ? undefined : await readFormat(cwd, format),
    options,
    context,
    keepAlive,
    mode,
    rounds,
    attachments: along.flatMap(({ attachments }) => attachments),
    images: [
      ...along.flatMap((one) => one.images),
      ...(await Promise.all(images.map((path) => readImage(cwd, path)))),
    ],
  };
}

/** What stays from turn to turn. */
type LastingSettings = Pick<ChatSettings, 'system' | 'think' | 'options' | 'context' | 'mode' | 'rounds'>;

/** The settings that a conversation was kept with, except those that the command line gives. */
export function restoredSettings(
  own: ChatSettings,
  { settings, messages }: Pick<ReadSessionResult, 'settings' | 'messages'>,
  given: ReadonlySet<FlagName>,
): LastingSettings {
  const { num_ctx: window, ...options } = settings?.options ?? {};
  const kept = messages.find(({ role }) => role === 'system')?.content;
  const system = settings || kept !== undefined ? kept : own.system;
  return {
    system: given.has('system') ? own.system : system,
    // What a conversation was allowed once, nobody has allowed today.
    mode: given.has('mode') ? own.mode : undefined,
    rounds: given.has('rounds') || !settings ? own.rounds : settings.maxRounds,
    think: given.has('think') || !settings ? own.think : settings.think,
    options: settings ? { ...options, ...(given.has('option') ? own.options : {}) } : own.options,
    context:
      given.has('context') || !settings ? own.context : typeof window === 'number' ? window : undefined,
  };
}

/** Such as `a system prompt, think low, temperature 0.2`; empty if nothing is set. */
export function describeLasting({ system, think, options, context, rounds }: LastingSettings): string {
  return [
    ...(system === undefined ? [] : ['a system prompt']),
    ...(think === undefined ? [] : [`think ${thinkWordOf(think)}`]),
    ...Object.entries(options).map(([name, value]) => showLine(`${name} ${JSON.stringify(value)}`)),
    ...(context === undefined ? [] : [`a window of ${context} tokens`]),
    ...(rounds === undefined ? [] : [count(rounds, 'round')]),
  ].join(', ');
}

/** Of the tool servers that a conversation was kept with: those that there are, and those that are gone. */
export function restoredTools(
  hosted: ConversationSettings['hostedTools'] = [],
  { known, own }: Pick<ToolChoice, 'known' | 'own'>,
): { readonly names: readonly string[]; readonly gone: string } {
  if (hosted === 'all') return { names: own, gone: '' };
  const gone = hosted.filter((name) => !known.includes(name)).map(showLine);
  return {
    names: hosted.filter((name) => known.includes(name)),
    gone: gone.length === 0 ? '' : `Its tools of ${gone.join(', ')} are not there any more.`,
  };
}

/** With what a prompt itself names. What is attached already goes once. */
export function withAlong({ attachments, images }: ChatSettings, along: Along): Along {
  const known = new Set(attachments.flatMap(({ uris = [] }) => uris));
  const further = along.attachments.filter(({ uris = [] }) => !uris.some((uri) => known.has(uri)));
  return {
    attachments: [...attachments, ...further],
    images: [...new Set([...images, ...along.images])],
  };
}

/** The user's next message. */
export function promptMessage(content: string, { attachments, images }: Along): Message {
  return {
    role: 'user',
    content,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(images.length === 0 ? {} : { images }),
  };
}

/** What the settings add to a turn with these messages. */
export function settingsOfTurn(
  { system, think, format, options, context, keepAlive, mode, rounds }: ChatSettings,
  messages: readonly Message[],
): Pick<ChatParams, 'messages' | 'think' | 'format' | 'options' | 'keepAlive' | 'agent' | 'maxRounds'> {
  const all = { ...options, ...(context === undefined ? {} : { num_ctx: context }) };
  return withoutUndefined({
    messages: system === undefined ? messages : [{ role: 'system' as const, content: system }, ...messages],
    think,
    format,
    agent: mode && { mode },
    maxRounds: rounds,
    options: Object.keys(all).length === 0 ? undefined : all,
    keepAlive,
  });
}

/** `@FILE` means the text of the file. `@@` begins a text with one `@`. */
export async function readSystem(cwd: string, text: string): Promise<string> {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? (await readText(cwd, text.slice(1))).trim() : text;
}

/** `json`, or the JSON Schema in a file. The daemon checks what it says. */
async function readFormat(cwd: string, word: string): Promise<ChatParams['format']> {
  if (word === 'json') return word;
  const schema = tryJson(await readText(cwd, word));
  if (isRecord(schema)) return schema;
  const why = schema === undefined ? 'is not JSON' : 'is no JSON Schema: that is an object';
  throw usageError(`${showLine(word)} ${why}.`);
}

/** The tool server for the pages of Runner, which needs no entry. */
export const docsServer = 'docs';
/** What it may do without a question: it reads pages that came with the program. */
const docsTools = ['search_docs', 'get_doc_markdown', 'list_collections'];

/** What `--tools` and `--allow` ask for. */
export type ToolChoice = ReturnType<typeof chooseTools>;

/**
 * Reads the flags.
 * @param toolServers the names in the user's own configuration; undefined until a daemon has named them: then no name
 *   is refused.
 * @throws {TerminalError} of the kind `usage`, if there is no tool server with such a name.
 */
export function chooseTools(
  {
    commandLine: { tools, allow, checks, noRules },
    program: { documents },
    terminal: { cwd },
  }: CommandContext,
  toolServers?: readonly string[],
) {
  const own = toolServers ?? [];
  // If the user has a server with the name of ours, it is not ours and gets none of its approvals.
  const isOurs = documents !== undefined && !own.includes(docsServer);
  const entered = [...new Set([...(documents ? [docsServer] : []), ...own])];
  const known = [...new Set([...entered, builtinServer])];
  const named = tools === undefined ? undefined : [...new Set(tools.split(',').map((name) => name.trim()))];
  const wrong = [...(named ?? []).filter((name) => name !== 'all'), ...allow.map(serverOfAllowed)].find(
    (name) => !known.includes(name),
  );
  if (toolServers !== undefined && wrong !== undefined) throw usageError(unknownServer(wrong, known));
  return {
    /** For the start of the daemon. */
    options: {
      ...(documents ? { mcpServers: { [docsServer]: documents } } : {}),
      // The conversation says which servers its model may use. These are only used where the person names them.
      builtinTools: true,
      ...(Object.keys(checks).length === 0 ? {} : { checks: { [cwd]: checksOf(checks) } }),
      ...(noRules ? { projectRules: false } : {}),
      approvals: approvalsOf(allow, isOurs ? { [docsServer]: docsTools } : {}),
    } satisfies InitializationOptions,
    /** Names of tool servers, in their order. */
    known,
    /** The servers of `--tools`; undefined without the flag. */
    wanted: named?.includes('all')
      ? [...new Set([...entered, ...named])].filter((name) => name !== 'all')
      : named,
    /** The servers of the user's own configuration. */
    own,
  };
}

export function unknownServer(name: string, known: readonly string[]): string {
  const there = known.length === 0 ? 'There are none' : `There are: ${known.map(showLine).join(', ')}`;
  return `There is no tool server "${showLine(name)}". ${there}. Others are entered in "mcpServers" of ~/.config/runner/config.json.`;
}

function checksOf(commands: Readonly<Record<string, readonly string[]>>): Checks[string] {
  return Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, { command }]));
}

/** `SERVER` allows all of its tools, `SERVER/TOOL` one. */
function approvalsOf(allow: readonly string[], builtIn: Approvals): Approvals {
  const approvals: Record<string, 'always' | readonly string[]> = { ...builtIn };
  for (const one of allow) {
    const server = serverOfAllowed(one);
    const before = Object.hasOwn(approvals, server) ? approvals[server] : undefined;
    const tool = one === server ? '*' : one.slice(server.length + 1);
    approvals[server] = [...(before === 'always' ? ['*'] : (before ?? [])), tool];
  }
  return approvals;
}

function serverOfAllowed(one: string): string {
  return one.replace(/\/.*$/s, '');
}
