import { createHash } from 'node:crypto';
import { ContentError } from '../../protocol/base/yaml.ts';
import { piecesOf } from '../base/database.ts';
import { type ContentFile, type ContentFolder, coarsest } from '../content/contentFolder.ts';
import type { Document } from '../content/document.ts';
import { parseDocumentFile, type ReadingOptions, tryIncludable } from '../content/documentFile.ts';
import type { IndexedFile } from '../search/documentIndex.ts';

export interface ParsedFile {
  readonly file: IndexedFile;
  /** Undefined if the file is not a document, or has not changed. */
  readonly document?: Document;
}

interface FileReading extends ReadingOptions {
  readonly known: IndexedFile | undefined;
  readonly mayInclude: (path: string) => boolean;
}

/** Reads a Markdown file, and makes an error its problem. Undefined if the file has disappeared. */
export async function tryReadFile(
  folder: ContentFolder,
  { path, changed, ...found }: Pick<ContentFile, 'path' | 'changed' | 'look'>,
  { known, mayInclude, ...options }: FileReading,
): Promise<ParsedFile | undefined> {
  const look = options.now - changed < coarsest ? '' : found.look;
  const withProblem = (problem: string, contentHash = '') => ({
    file: { path, look, contentHash, slug: null, problem, warnings: [] },
  });
  let contentHash = '';
  try {
    const bytes = await folder.read(path);
    contentHash = createHash('sha256').update(bytes).digest('hex');
    if (known && contentHash === (known.sourceHash ?? known.contentHash) && !isDue(known, options.now))
      return { file: known.look === look ? known : { ...known, look } };
    const includes: Record<string, string> = {};
    const refused: string[] = [];
    const include = (from: string, isTitled?: boolean) => {
      includes[from] = folder.lookNow(from) ?? '';
      if (!mayInclude(from)) refused.push(from);
      const found = mayInclude(from) ? folder.readNow(from) : undefined;
      try {
        return found && tryIncludable(from, found, options, isTitled);
      } catch {
        return undefined;
      }
    };
    const { document, ...parsed } = parseDocumentFile(path, bytes, { ...options, include });
    contentHash = document.contentHash;
    const file = { path, look, contentHash, slug: document.slug, problem: null, ...parsed };
    const wasServed = known?.wasServed && document.draft && parsed.due !== undefined;
    const more = {
      ...(Object.keys(includes).length > 0 ? { includes } : {}),
      ...(refused.length > 0 ? { refused } : {}),
      ...(wasServed ? { wasServed } : {}),
    };
    return { file: { ...file, ...more }, document };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof ContentError) return withProblem(error.message, contentHash);
    return withProblem(`The file cannot be read: ${(error as Error).message}.`);
  }
}

/** Whether a date has come by which the file must be read again. */
export function isDue({ due }: IndexedFile, now: number): boolean {
  return due !== undefined && due <= now;
}

const width = 16;

export async function readInOrder<Result>(
  files: readonly ContentFile[],
  read: (file: ContentFile) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const piece of piecesOf(files, width)) results.push(...(await Promise.all(piece.map(read))));
  return results;
}

/** Files that are read and applied at once while the index is built. Both limits bound the memory that it takes. */
const maxPieceFiles = 1_000;
const maxPieceBytes = 16_000_000;

export function piecesToRead(files: readonly ContentFile[]): readonly (readonly ContentFile[])[] {
  const pieces: ContentFile[][] = [];
  let piece: ContentFile[] = [];
  let bytes = 0;
  for (const file of files) {
    if (piece.length === maxPieceFiles || (bytes += file.size) > maxPieceBytes || pieces.length === 0) {
      pieces.push((piece = []));
      bytes = file.size;
    }
    piece.push(file);
  }
  return pieces;
}
