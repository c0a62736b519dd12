import * as z from 'zod/mini';
import type { Approvals } from '../../protocol/tools.ts';
import { readUserFile } from '../config/userConfig.ts';
import type { Log } from '../log.ts';
import { approvalsSchema } from './params.ts';

/** What the user's own configuration says of tools. */
export interface UserTools {
  readonly mcpServers: Readonly<Record<string, unknown>>;
  readonly approvals: Approvals;
}

export const noUserTools: UserTools = { mcpServers: {}, approvals: {} };

const userSchema = z.object({
  mcpServers: z.exactOptional(z.record(z.string(), z.unknown())),
  approvals: z.exactOptional(approvalsSchema),
});

/** No file is no tools; one that cannot be used is logged. */
export async function readUserTools(path: string, log: Log): Promise<UserTools> {
  try {
    const parsed = userSchema.safeParse((await readUserFile(path)) ?? {});
    if (parsed.success) return { ...noUserTools, ...parsed.data };
    log.warn(
      `The tools in ${path} are left out: "mcpServers" takes { NAME: { command, args?, env?, cwd? } or { url, headers? } }, "approvals" { SERVER: "always" or ["TOOL"] }.`,
    );
  } catch (error) {
    log.warn(error instanceof Error ? error.message : String(error));
  }
  return noUserTools;
}
