import type { AccessStores } from '../auth/accessStores.ts';
import { openDataFolder } from '../base/dataFolder.ts';
import type { Places } from '../serveConfig.ts';
import { openAccess } from '../stores.ts';

/** Runs a command on tokens, clients and the owner, even while the service runs. */
export async function withAccess<Result>(
  places: Places,
  work: (access: AccessStores) => Promise<Result>,
): Promise<Result> {
  if (places.database === undefined) await openDataFolder(places.data);
  const access = await openAccess(places);
  try {
    return await work(access);
  } finally {
    await access.close();
  }
}
