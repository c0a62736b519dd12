import { readlinkSync, realpathSync } from 'node:fs';

/**
 * Whether an open file is the one at this path. A path that was checked before may lead elsewhere when it is opened,
 * because somebody has put a symbolic link into it; the open file is always the one that will be read.
 * @param path without symbolic links, as it was checked
 */
export function isOpenedAt(descriptor: number, path: string): boolean {
  const opened = openedPath(descriptor) ?? realpathSync(path);
  // An editor may have replaced the file by now.
  return opened === path || opened === `${path} (deleted)`;
}

/** Undefined on systems that do not say it. */
function openedPath(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}
