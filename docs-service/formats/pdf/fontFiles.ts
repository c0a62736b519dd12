import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';

export interface FontFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
}

/** Where Debian and other Linux distributions, macOS and Windows keep fonts. A missing folder does no harm. */
export function usualFontFolders(): readonly string[] {
  const windows = process.env['SystemRoot'] ?? 'C:\\Windows';
  return [
    '/usr/share/fonts',
    '/usr/local/share/fonts',
    join(homedir(), '.local/share/fonts'),
    '/System/Library/Fonts',
    '/Library/Fonts',
    join(homedir(), 'Library/Fonts'),
    join(windows, 'Fonts'),
  ];
}

/** The fonts in folders and their subfolders, folder by folder, in the order of their paths. */
export function listFontFiles(folders: readonly string[]): readonly FontFile[] {
  return folders.flatMap((folder) => filesIn(folder, 0).sort((a, b) => (a.path < b.path ? -1 : 1)));
}

/**
 * Changes when a font that a document could use has changed, whatever its folder. It covers the name, the size and the
 * beginning of each file, where a font keeps checksums of all its parts.
 */
export function fontsFingerprint(folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const { path, size } of listFontFiles(folders)) {
    hash.update(`${basename(path)}\0${size}\0`).update(beginningOf(path));
  }
  return hash.digest('hex');
}

const maxDepth = 4;
const maxFileSize = 128 * 1024 * 1024;

function filesIn(folder: string, depth: number): FontFile[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth < maxDepth ? filesIn(path, depth + 1) : [];
    if (!/\.(ttf|otf|ttc|otc)$/i.test(entry.name)) return [];
    const size = sizeOf(path);
    return size > 0 && size <= maxFileSize ? [{ path, size }] : [];
  });
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    // The file is gone, or is a link that leads nowhere.
    return 0;
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // A missing or unreadable folder has no fonts for us.
    return [];
  }
}

function beginningOf(path: string): Buffer {
  const buffer = Buffer.alloc(4096);
  try {
    const file = openSync(path, 'r');
    const length = readSync(file, buffer, 0, buffer.length, 0);
    closeSync(file);
    return buffer.subarray(0, length);
  } catch {
    return Buffer.alloc(0);
  }
}
