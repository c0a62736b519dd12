import type { Tool } from '../../protocol/messages/chat.ts';
import type { Log } from '../base/log.ts';
import type { DaemonTool, DaemonToolOffer } from '../chat/daemonTools.ts';
import type { ApprovalStore, NamedApprovals } from './approvals.ts';
import type { ArgumentsCheck } from './argumentsCheck.ts';
import type { ServerEntry } from './serverEntry.ts';
import { decisiveFolder } from './startFolder.ts';
import type { ServerTool } from './toolList.ts';
import { namesForModel } from './toolNames.ts';
import { failedOutcome, readToolResult } from './toolResult.ts';
import type { ToolServer } from './toolServer.ts';
import { ToolServerError } from './toolServerError.ts';

/** What a model is offered at most, the tools of the client among them. */
const maxOffered = 128;

/** What a server has now. */
export interface ServerOffer {
  readonly entry: ServerEntry;
  /** Absent where it offers nothing. */
  readonly server?: ToolServer;
  readonly tools: readonly ServerTool[];
}

export interface OfferParts {
  readonly options: {
    /** What the user allows, as it is now. */
    readonly approvals: () => NamedApprovals;
    /** The workspace's root. */
    readonly root: () => string | undefined;
    readonly env: NodeJS.ProcessEnv;
    readonly log: Log;
  };
  readonly approvals: ApprovalStore;
  readonly check: ArgumentsCheck;
  readonly sayOnce: (sentence: string) => void;
}

/** In the order of the entries, and of each server's own list, so that the runner's cache stays warm. */
export function offeredTools(
  states: readonly ServerOffer[],
  own: readonly Tool[],
  { options, approvals, check, sayOnce }: OfferParts,
): DaemonToolOffer['tools'] {
  const place = { root: options.root(), env: options.env };
  const all = states.flatMap(({ entry, server, tools }) => {
    const folder = decisiveFolder(entry, place);
    return server ? tools.map((tool) => ({ entry, folder, server, tool })) : [];
  });
  const room = Math.max(0, maxOffered - own.length);
  if (all.length > room)
    sayOnce(
      `There are ${all.length + own.length} tools, but a model is offered at most ${maxOffered}: the last ${all.length - room} are left out. Switch off some tool servers.`,
    );
  const offered = all.slice(0, room);
  const names = namesForModel(
    offered.map(({ entry, tool }) => ({ server: entry.name, ownName: tool.name })),
    own.map(({ name }) => name),
  );
  return offered.map(({ entry, folder, server, tool }, index): DaemonTool => {
    const { title, description, inputSchema, annotations, fingerprint } = tool;
    const approved = { entry, folder, tool: tool.name, fingerprint };
    return {
      name: names[index] ?? tool.name,
      description,
      inputSchema,
      server: entry.name,
      ...(title === undefined ? {} : { title }),
      ...(annotations === undefined ? {} : { annotations }),
      problemWith: (given) => check(inputSchema, given),
      isApproved: () => approvals.isApproved(approved, options.approvals()),
      async allow(decision) {
        approvals.allowForSession(approved);
        if (decision === 'always')
          await approvals.allowAlways(approved).catch((error) => {
            options.log.warn(
              `Runner could not save that ${tool.name} is always allowed: ${String(error instanceof Error ? error.message : error)}`,
            );
          });
      },
      async call(given, signal) {
        try {
          return readToolResult(
            await server.call({ name: tool.name, arguments: given, inputSchema }, signal),
          );
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof ToolServerError)) throw error;
          return failedOutcome(error.message);
        }
      },
    };
  });
}
