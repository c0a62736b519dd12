import { messageOf } from '../../protocol/base/text.ts';
import type { AgentMode, Tool } from '../../protocol/messages/chat.ts';
import { builtinServer, type ToolCapabilities, type ToolDecision } from '../../protocol/messages/tools.ts';
import type { Log } from '../base/log.ts';
import type { CallContext, DaemonTool } from '../chat/daemonTools.ts';
import { isOffered } from '../chat/permissions.ts';
import type { NamedApprovals } from './approvals.ts';
import { builtinTool, readingTools } from './builtin/builtinTools.ts';
import { argumentsAsMeant, editsIn } from './builtin/forgivenCall.ts';
import type { McpRuntime } from './mcpRuntime.ts';
import type { ToolRequest } from './mcpSession.ts';
import { decisiveFolder, type ServerEntry, type StartPlace } from './serverEntry.ts';
import type { ServerTool } from './toolList.ts';
import type { ServerState, ToolServer } from './toolServer.ts';

/** A model is offered at most this many tools, those of the client among them. */
const maxOffered = 128;

interface OfferOptions extends StartPlace, Pick<McpRuntime, 'approvals' | 'checkArguments'> {
  /** What the user allows by name, as it is now. */
  readonly named: () => NamedApprovals;
  readonly mode: AgentMode;
  /** Which of the later decisions the client can give. */
  readonly decisions: ToolCapabilities['decisions'];
  readonly log: Log;
  readonly warnOnce: (sentence: string) => void;
}

/** The tools in the order of the entries, and of each server's own list, so that the runner's cache stays warm. */
export function offerTools(
  states: readonly ServerState[],
  clientTools: readonly Tool[],
  options: OfferOptions,
): readonly DaemonTool[] {
  const all = states.flatMap(({ entry, server, tools }) => {
    const folder = decisiveFolder(entry, options);
    const offered = tools.filter(({ act }) => isOffered(options.mode, act));
    return server ? offered.map((tool) => ({ entry, folder, server, tool })) : [];
  });
  const room = Math.max(0, maxOffered - clientTools.length);
  if (all.length > room)
    options.warnOnce(
      `There are ${all.length + clientTools.length} tools, but a model is offered at most ${maxOffered}: the last ${all.length - room} are left out. Switch off some tool servers.`,
    );
  const offered = all.slice(0, room).map((tool) => toDaemonTool(tool, options));
  const taken = clientTools.map(({ name }) => name);
  const names = namesForModel(offered, taken);
  return offered.map((tool, index) => ({ ...tool, name: names[index] ?? tool.ownName }));
}

interface OfferedTool {
  readonly entry: ServerEntry;
  readonly folder: string | undefined;
  readonly server: ToolServer;
  readonly tool: ServerTool;
}

/** Under the server's own name. */
function toDaemonTool(
  { entry, folder, server, tool }: OfferedTool,
  { approvals, named, checkArguments, decisions, log }: OfferOptions,
): DaemonTool {
  const { name, title, description, inputSchema, annotations, act, calls, fingerprint } = tool;
  const tools = act === 'read' ? readingTools : [name];
  const prepare: DaemonTool['prepare'] =
    calls?.prepare ??
    (server.prepare && (async (given, signal, bounds) => server.prepare?.(requestOf(given, bounds), signal)));
  const approvedFor = (given: ToolRequest['arguments']) => {
    const wanted = calls?.approvalOf(given) ?? { tools, fingerprint };
    return { entry, folder, ...wanted, act };
  };
  const requestOf = (given: ToolRequest['arguments'], bounds?: CallContext): ToolRequest => {
    return { name, arguments: given, inputSchema, bounds };
  };
  const isOurs = entry.kind === 'builtin';
  const problemWith = (given: ToolRequest['arguments']) =>
    (act === 'edit' ? editsIn(given) : [given])
      .map((one) => checkArguments(inputSchema, one))
      .find((problem) => problem !== undefined);
  return {
    name,
    description,
    inputSchema,
    server: entry.name,
    ownName: name,
    ...(title === undefined ? {} : { title }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(isOurs && {
      otherNames: builtinTool(name)?.names ?? [],
      asMeant: (given: ToolRequest['arguments']) => calls?.asMeant(given) ?? argumentsAsMeant(name, given),
    }),
    ...(calls && { meantBy: calls.meantBy, runsLast: true }),
    problemWith,
    isApproved: (given) => approvals.isApproved(approvedFor(given), named()),
    async allow(decision, given) {
      await approvals.allow(approvedFor(given), decision).catch((error) => {
        log.warn(`Runner could not save that ${name} is always allowed: ${messageOf(error)}`);
      });
    },
    ...(act && { act }),
    ...(act === 'edit' && { decisions: decisionsOnEdit(decisions) }),
    ...(prepare ? { prepare } : {}),
    call: (given, signal, listener) => server.call(requestOf(given), { signal, ...listener }),
  };
}

/** In the order in which they are offered. */
function decisionsOnEdit(given: ToolCapabilities['decisions'] = []): readonly ToolDecision[] {
  const later = (decision: 'answer' | 'stop') => (given.includes(decision) ? [decision] : []);
  return ['once', ...later('answer'), 'deny', ...later('stop')];
}

/** What the built-in tools add to an offer, if the model has any of them. */
export async function ownAdvice(states: readonly ServerState[], offered: readonly DaemonTool[]) {
  const own = offered.filter(({ server }) => server === builtinServer);
  const {
    server,
    instructions,
    adviceOn,
    tools = [],
  } = states.find(({ entry }) => entry.kind === 'builtin') ?? {};
  if (own.length === 0 || !instructions || !adviceOn) return undefined;
  const nameOf = (tool: string) => own.find(({ ownName }) => ownName === tool)?.name;
  const left = tools.flatMap(({ name }) =>
    nameOf(name) === undefined ? [name, ...(builtinTool(name)?.names ?? [])] : [],
  );
  return {
    instructions: instructions(nameOf),
    rules: await server?.rules?.(),
    adviceOn: (name: string) => (left.includes(name) ? leftByMode : adviceOn(name)),
  };
}

const leftByMode =
  'The user has chosen a mode in which nothing is changed and nothing is run. Say in your answer what you would do.';

/** The most characters of a name that a model sees. */
const maxNameLength = 64;

type NamedTool = Pick<DaemonTool, 'ownName' | 'server'>;

/**
 * The names that a model sees, in the order of the tools: each matches `[A-Za-z0-9_-]{1,64}`, and no two are the same.
 * If several tools have one name, or a name is taken, all of them become `server_tool`, so that no tool can pass for
 * another.
 */
export function namesForModel(tools: readonly NamedTool[], taken: readonly string[]): readonly string[] {
  const prefixed = new Set<number>();
  const nameOf = (tool: NamedTool, index: number) =>
    plainName(prefixed.has(index) ? `${tool.server}_${tool.ownName}` : tool.ownName);
  // A prefixed name may be that of a third tool, which then gets a prefix too.
  for (let before = -1; before !== prefixed.size; ) {
    before = prefixed.size;
    for (const index of clashesOf(tools.map(nameOf), taken)) prefixed.add(index);
  }
  return numbered(tools.map(nameOf), taken);
}

function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, maxNameLength) || '_';
}

function clashesOf(names: readonly string[], taken: readonly string[]): readonly number[] {
  const count = new Map<string, number>(taken.map((name) => [name, 1]));
  for (const name of names) count.set(name, (count.get(name) ?? 0) + 1);
  return names.flatMap((name, index) => ((count.get(name) ?? 0) > 1 ? [index] : []));
}

/** Names that are still the same, cut or of one server, get a number. */
function numbered(names: readonly string[], taken: readonly string[]): readonly string[] {
  const used = new Set(taken);
  return names.map((name) => {
    let free = name;
    for (let number = 2; used.has(free); number += 1) {
      const end = `_${number}`;
      free = name.slice(0, maxNameLength - end.length) + end;
    }
    used.add(free);
    return free;
  });
}
