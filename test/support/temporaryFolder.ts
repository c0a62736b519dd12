import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What of a test is needed to clean up behind it. */
interface Teardown {
  teardown(work: () => unknown): void;
}

/** A folder with files, by their paths, that goes with the test. */
export async function temporaryFolder(
  t: Teardown,
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runner-docs-test-'));
  t.teardown(() =>
    rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch((error: unknown) => {
      // Windows keeps a database that a later teardown closes, and the system cleans this folder.
      if (process.platform !== 'win32') throw error;
    }),
  );
  await writeFiles(folder, files);
  return folder;
}

/** When each path was written last, in milliseconds. */
const written = new Map<string, number>();

/** Two texts of a file never have the same time, even in one tick of the clock of the file system. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    const at = Math.floor((await stat(path)).mtimeMs);
    const before = written.get(path) ?? 0;
    written.set(path, Math.max(at, before + 1));
    // Half a millisecond more, so that no rounding takes it back to the one before.
    if (at <= before) await utimes(path, (before + 1.5) / 1000, (before + 1.5) / 1000);
  }
}
