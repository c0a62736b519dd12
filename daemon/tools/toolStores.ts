import { join } from 'node:path';
import { stateFolder } from '../../protocol/base/userFolders.ts';
import { createKeptApprovals, type KeptApprovals } from './keptApprovals.ts';
import { createLoginStore, type LoginStore } from './oauth/loginStore.ts';

/** What the user's tools keep on the disk. A process has one: two would both believe that they hold the lock. */
export interface ToolStores {
  readonly logins: LoginStore;
  readonly approvals: KeptApprovals;
  close(): Promise<void>;
}

export interface ToolStoresOptions {
  /** A folder of the user's alone. */
  readonly userFolder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

export function openToolStores({ userFolder, env, platform }: ToolStoresOptions): ToolStores {
  const logins = createLoginStore(join(stateFolder(env, platform), 'logins'));
  const approvals = createKeptApprovals(join(userFolder, 'approvals.json'));
  return {
    logins,
    approvals,
    async close() {
      await Promise.all([logins.close(), approvals.close()]);
    },
  };
}
