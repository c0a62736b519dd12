import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** The files of a folder as they are, by their names with slashes. */
export function filesOf(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path).replaceAll(sep, '/'), readFileSync(path, 'utf8')];
    }),
  );
}

/** The exit code of the project's own tests. */
export function testsOf(folder: string): number | null {
  const env = { PATH: process.env['PATH'] };
  return spawnSync(process.execPath, ['--test'], { cwd: folder, env }).status;
}
