import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Approvals } from '../../protocol/tools.ts';
import { writePrivateFile } from '../privateFile.ts';
import { readRegularFile } from '../regularFile.ts';
import type { ServerEntry } from './serverEntry.ts';

/** A tool as it is approved: another description or schema, or another entry of its server, is another tool. */
export interface ApprovedTool {
  readonly entry: ServerEntry;
  /** The server's own name for it. */
  readonly tool: string;
  readonly fingerprint: string;
}

/** What was allowed, for this daemon's life or until the tool changes. */
export interface ApprovalStore {
  /** Whether the user has allowed the tool by configuration, for the session or for always. */
  isApproved(tool: ApprovedTool, configured: readonly Approvals[]): Promise<boolean>;
  allowForSession(tool: ApprovedTool): void;
  /** Keeps it in the user's own folder. @throws {Error} where that cannot be written. */
  allowAlways(tool: ApprovedTool): Promise<void>;
}

const maxBytes = 1024 * 1024;
const maxKept = 5_000;
const keptSchema = z.object({ approved: z.array(z.string()) });

/** `path` is a file of the user's alone. */
export function createApprovals(path: string): ApprovalStore {
  const session = new Set<string>();
  let writing: Promise<void> = Promise.resolve();
  const keep = async (key: string) => {
    const kept = await readKept(path);
    if (kept.includes(key)) return;
    await writePrivateFile(path, JSON.stringify({ approved: [...kept, key].slice(-maxKept) }, undefined, 1));
  };
  return {
    async isApproved(tool, configured) {
      if (configured.some((approvals) => isNamed(tool, approvals))) return true;
      const key = keyOf(tool);
      return session.has(key) || (await readKept(path)).includes(key);
    },
    allowForSession: (tool) => void session.add(keyOf(tool)),
    async allowAlways(tool) {
      const key = keyOf(tool);
      session.add(key);
      // Two answers at once would each write what the other does not know.
      const before = writing;
      writing = before.then(
        () => keep(key),
        () => keep(key),
      );
      await writing;
    },
  };
}

function isNamed({ entry: { name }, tool }: ApprovedTool, approvals: Approvals): boolean {
  const named = Object.hasOwn(approvals, name) ? approvals[name] : undefined;
  return named === 'always' || (named?.includes(tool) ?? false);
}

function keyOf({ entry, tool, fingerprint }: ApprovedTool): string {
  return createHash('sha256')
    .update(JSON.stringify([entry, tool, fingerprint]))
    .digest('hex');
}

/** No file is none; one that cannot be read allows nothing. */
async function readKept(path: string): Promise<readonly string[]> {
  try {
    const parsed = keptSchema.safeParse(JSON.parse(await readRegularFile(path, maxBytes)));
    return parsed.success ? parsed.data.approved : [];
  } catch {
    return [];
  }
}
