import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** What is installed, as npm reads it. */
export interface Locked {
  /** The texts of `package.json` and `package-lock.json`. */
  readonly manifest: string;
  readonly lock: string;
  /** How many packages npm installs. */
  readonly packages: number;
  /** Such as `MIT (98), ISC (13)`. */
  readonly licenses: string;
  /** Of the library. */
  readonly version: string;
}

/** The package that has the library. */
export const libraryPackage = 'node-llama-cpp';

/**
 * Our lock file names the packages of every platform, as the library's optional dependencies, which are left out when
 * it is installed. The one for this platform becomes a dependency of its own here. All keep their integrity hashes.
 */
export async function lockFor(folder: string, native: string): Promise<Locked> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const lock: LockFile = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  const path = `node_modules/${native}`;
  const { optional: _, ...wanted } = lock.packages[path] ?? {};
  const { version = '' } = wanted;
  const dependencies = { ...manifest.dependencies, [native]: version };
  const root = { ...lock.packages[''], dependencies };
  const packages: LockFile['packages'] = { ...lock.packages, '': root, [path]: wanted };
  const installed = Object.entries(packages).filter(([name, { optional }]) => name !== '' && !optional);
  return {
    manifest: JSON.stringify({ ...manifest, dependencies }, null, 2),
    lock: JSON.stringify({ ...lock, packages }, null, 2),
    packages: installed.length,
    licenses: countLicenses(installed.map(([, { license }]) => license ?? 'unknown')),
    version,
  };
}

function countLicenses(licenses: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const license of licenses) counts.set(license, (counts.get(license) ?? 0) + 1);
  const most = [...counts].toSorted(([, one], [, other]) => other - one);
  return most.map(([license, count]) => `${license} (${count})`).join(', ');
}
