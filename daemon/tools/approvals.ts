import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { folderKey } from '../../protocol/base/platform/folders.ts';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import type { Approvals } from '../../protocol/messages/tools.ts';
import { ExclusiveWork } from '../base/processLocks.ts';
import { tryReadKept } from '../base/regularFile.ts';
import type { ToolAct } from '../chat/daemonTools.ts';
import type { ServerEntry } from './serverEntry.ts';

/** What an approval is for. If any of this changes, earlier approvals no longer count. */
interface ApprovedTool {
  readonly entry: ServerEntry;
  /** The folder in which the entry starts, if that decides which program it is. */
  readonly folder: string | undefined;
  /** The server's own name for it, with those of the tools that the same approval is for. */
  readonly tools: readonly string[];
  readonly fingerprint: string;
  /**
   * Only of a built-in tool. For an edit and a check, no approval of the whole server counts: only its client's, which
   * names the tool. No answer about an edit lasts.
   */
  readonly act?: ToolAct | undefined;
}

/** What is allowed by the names of servers. */
export interface NamedApprovals {
  /** Of the user's own configuration. */
  readonly user: Approvals;
  /** Of the client, for its session. */
  readonly client: Approvals;
  /** The entry that they mean by a name. */
  readonly entryOf: (name: string) => ServerEntry | undefined;
}

/** What the user has allowed, for the life of this daemon or until the tool changes. */
export function createApprovals(kept: KeptApprovals) {
  const session = new Set<string>();
  return {
    /** Whether the user has allowed the tool by configuration, for the session or for always. */
    async isApproved(tool: ApprovedTool, configured: NamedApprovals): Promise<boolean> {
      if (isNamed(tool, configured)) return true;
      if (tool.act === 'edit') return false;
      const key = await keyOf(tool);
      return session.has(key) || (await kept.has(key));
    },
    /** `always` is kept in the user's own folder. @throws {Error} if that cannot be written. */
    async allow(tool: ApprovedTool, decision: 'session' | 'always'): Promise<void> {
      const key = await keyOf(tool);
      session.add(key);
      if (decision === 'always') await kept.add(key);
    },
  };
}

function isNamed(approved: ApprovedTool, { user, client, entryOf }: NamedApprovals): boolean {
  const { entry, tools: names, act } = approved;
  const needsOwnName = act === 'edit' || act === 'check';
  const given = (needsOwnName ? [client] : [user, client]).flatMap((approvals) => {
    const tools = Object.hasOwn(approvals, entry.name) ? approvals[entry.name] : undefined;
    return tools === 'always' ? ['*'] : (tools ?? []);
  });
  if (!names.some((name) => given.includes(name)) && (needsOwnName || !given.includes('*'))) return false;
  // Nobody else has its name.
  if (entry.kind === 'builtin') return true;
  const meant = entryOf(entry.name);
  return meant !== undefined && JSON.stringify(asWritten(meant)) === JSON.stringify(asWritten(entry));
}

/** Another value of a variable is the same entry. */
function asWritten(entry: ServerEntry): object {
  const { name, kind, variables } = entry;
  return variables === undefined ? entry : { name, kind, written: variables.written };
}

/** Covers the whole entry: another command, argument, variable, address or header is another server. */
async function keyOf({ entry, folder, tools, fingerprint }: ApprovedTool): Promise<string> {
  const place = folder && (await folderKey(folder));
  return createHash('sha256')
    .update(JSON.stringify([asWritten(entry), place, tools.join(), fingerprint]))
    .digest('hex');
}

export type KeptApprovals = ReturnType<typeof createKeptApprovals>;

const maxBytes = 1024 * 1024;
const maxKept = 5_000;
/** How long another process may take to read and write the file, in ms. */
const maxTurn = 5_000;
const keptSchema = z.object({ approved: z.array(z.string()) });

/**
 * What the user always allows, in a private file. A key stands for one tool of one entry. If two processes write at
 * once, each adds to what the other has written.
 */
export function createKeptApprovals(path: string) {
  const writing = new ExclusiveWork(
    dirname(path),
    maxTurn,
    () => new Error('another Runner process is writing the file. Allow the tool again'),
  );
  return {
    has: async (key: string) => (await readKept(path)).includes(key),
    /** @throws {Error} if the file cannot be written. */
    add: (key: string): Promise<void> =>
      writing.run('approvals', async () => {
        const kept = await readKept(path);
        if (kept.includes(key)) return;
        const approved = [...kept, key].slice(-maxKept);
        await writePrivateFile(path, JSON.stringify({ approved }, undefined, 1));
      }),
    /** Waits until everything is written. */
    close: () => writing.close(),
  };
}

/** A file that cannot be read allows nothing. */
async function readKept(path: string): Promise<readonly string[]> {
  return (await tryReadKept(path, keptSchema, maxBytes))?.approved ?? [];
}
