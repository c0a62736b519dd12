import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Section, splitSections } from './docsQuote.ts';

export interface Documents {
  /** All sections of all documents, which are read once; empty if there is no folder. */
  sections(): Promise<readonly Section[]>;
}

const limits = { files: 200, bytes: 512 * 1024 } as const;

/**
 * Reads a folder of Markdown: at most 200 files, and half a megabyte of each. Files that cannot be read are left out.
 */
export function createDocuments(folder: string | undefined): Documents {
  let read: Promise<readonly Section[]> | undefined;
  return { sections: () => (read ??= folder === undefined ? Promise.resolve([]) : readFolder(folder)) };
}

async function readFolder(folder: string): Promise<readonly Section[]> {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const files = names
    .filter((name) => name.endsWith('.md'))
    .sort()
    .slice(0, limits.files);
  const sections: Section[] = [];
  for (const file of files) {
    const path = join(folder, file);
    const text = await readFile(path, 'utf8').catch(() => '');
    sections.push(...splitSections(text.slice(0, limits.bytes), relative(folder, path)));
  }
  return sections;
}
