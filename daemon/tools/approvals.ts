import { createHash } from 'node:crypto';
import type { Approvals, ToolServers } from '../../protocol/messages/tools.ts';
import type { KeptApprovals } from './keptApprovals.ts';
import { readServerEntry, type ServerEntry } from './serverEntry.ts';

/** A tool as it is approved: whatever of this is different, it is another tool. */
export interface ApprovedTool {
  readonly entry: ServerEntry;
  /** Where the entry starts, if that decides which program it is. */
  readonly folder: string | undefined;
  /** The server's own name for it. */
  readonly tool: string;
  readonly fingerprint: string;
}

/** What somebody allows by names of servers, and the entries that have these names there: no other entry is meant. */
export interface NamedApprovals {
  readonly given: readonly Approvals[];
  readonly servers: ToolServers;
}

/** What was allowed, for this daemon's life or until the tool changes. */
export interface ApprovalStore {
  /** Whether the user has allowed the tool by configuration, for the session or for always. */
  isApproved(tool: ApprovedTool, configured: NamedApprovals): Promise<boolean>;
  allowForSession(tool: ApprovedTool): void;
  /** Keeps it in the user's own folder. @throws {Error} where that cannot be written. */
  allowAlways(tool: ApprovedTool): Promise<void>;
}

export function createApprovals(kept: KeptApprovals): ApprovalStore {
  const session = new Set<string>();
  return {
    async isApproved(tool, configured) {
      if (isNamed(tool, configured)) return true;
      const key = keyOf(tool);
      return session.has(key) || (await kept.has(key));
    },
    allowForSession: (tool) => void session.add(keyOf(tool)),
    async allowAlways(tool) {
      const key = keyOf(tool);
      session.add(key);
      await kept.add(key);
    },
  };
}

function isNamed(approved: ApprovedTool, { given, servers }: NamedApprovals): boolean {
  const { entry } = approved;
  if (!given.some((approvals) => isOneOf(approved, approvals))) return false;
  return (
    Object.hasOwn(servers, entry.name) && isSame(readServerEntry(entry.name, servers[entry.name]), entry)
  );
}

function isOneOf({ entry: { name }, tool }: ApprovedTool, approvals: Approvals): boolean {
  const named = Object.hasOwn(approvals, name) ? approvals[name] : undefined;
  return named === 'always' || (named?.includes(tool) ?? false);
}

function isSame(one: ServerEntry, other: ServerEntry): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A digest of the whole entry: another command, argument, variable, address or header is another server. */
function keyOf({ entry, folder, tool, fingerprint }: ApprovedTool): string {
  return createHash('sha256')
    .update(JSON.stringify([entry, folder, tool, fingerprint]))
    .digest('hex');
}
