import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { tryNow } from '../../../protocol/base/text.ts';

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
    hash.update(`${basename(path)}\0${size}\0`).update(tryBeginning(path) ?? '');
  }
  return hash.digest('hex');
}

const maxDepth = 4;
const maxFileSize = 128 * 1024 * 1024;

/** A missing or unreadable folder has no fonts for us, and a link that leads nowhere is none. */
function filesIn(folder: string, depth: number): FontFile[] {
  const entries = tryNow(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth < maxDepth ? filesIn(path, depth + 1) : [];
    if (!/\.(ttf|otf|ttc|otc)$/i.test(entry.name)) return [];
    const size = tryNow(() => statSync(path).size) ?? 0;
    return size > 0 && size <= maxFileSize ? [{ path, size }] : [];
  });
}

function tryBeginning(path: string): Buffer | undefined {
  const buffer = Buffer.alloc(4096);
  return tryNow(() => {
    const file = openSync(path, 'r');
    const length = readSync(file, buffer, 0, buffer.length, 0);
    closeSync(file);
    return buffer.subarray(0, length);
  });
}

/** The region whose forms are used for the signs that Chinese, Japanese and Korean share. */
export type Region = 'jp' | 'kr' | 'sc' | 'tc' | 'hk';

export interface FallbackFile {
  readonly regular: FontFile;
  readonly bold: FontFile | undefined;
}

/** From the language of a document, or else from its text. */
export function regionOf(lang: string | null, text: string): Region {
  const tag = lang?.toLowerCase() ?? '';
  if (/^ja\b/.test(tag)) return 'jp';
  if (/^ko\b/.test(tag)) return 'kr';
  if (/^zh\b.*-hk\b|^yue\b/.test(tag)) return 'hk';
  if (/^zh\b.*-(tw|mo|hant)\b/.test(tag)) return 'tc';
  if (/^zh\b/.test(tag)) return 'sc';
  if (/[\u3041-\u30ff]/.test(text)) return 'jp';
  return /[\uac00-\ud7a3]/.test(text) ? 'kr' : 'sc';
}

/** The font of a collection for a region, by its PostScript name. */
export function regionalFace(names: readonly string[], region: Region): string | undefined {
  const sans = names.filter((name) => !/mono/i.test(name));
  return sans.find((name) => new RegExp(`(CJK|Sans|PingFang|Heiti)-?${region}\\b`, 'i').test(name));
}

/** The files to search, in order: well-known ones first, those of the region before the others. */
export function fallbackFiles(files: readonly FontFile[], region: Region): readonly FallbackFile[] {
  const paths = new Map(files.map((file) => [file.path, file]));
  return files
    .map((file) => ({ file, rank: rankOf(basename(file.path), region) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.rank - b.rank)
    .map(({ file }) => ({ regular: file, bold: paths.get(boldPath(file.path)) }));
}

const regional: Readonly<Record<Region, RegExp>> = {
  jp: /^(NotoSansJP|Hiragino Sans|ヒラギノ角ゴシック W3|YuGothR|meiryo|msgothic|ipag)/i,
  kr: /^(NotoSansKR|AppleSDGothicNeo|malgun\.|NanumGothic\.)/i,
  sc: /^(NotoSansSC|PingFang|msyh\.|STHeiti Light|wqy|simsun)/i,
  tc: /^(NotoSansTC|PingFang|msjh\.)/i,
  hk: /^(NotoSansHK|PingFang|msjh\.)/i,
};

const wellKnown = [
  /^NotoSans-?Regular/i,
  /^NotoSansCJK-?(Regular|VF)/i,
  /^NotoSans[A-Z]\w*-(Regular|VF)/,
  /^NotoEmoji/i,
  /^DejaVuSans\./i,
  /^(Arial Unicode|ArialUnicode|Symbola|seguisym|segoeui\.|LiberationSans-Regular|FreeSans\.)/i,
];

const otherStyles =
  /bold|black|heavy|light|thin|medium|italic|oblique|condensed|narrow|serif|mono|extra|color|lastresort/i;

function rankOf(name: string, region: Region): number {
  if (regional[region].test(name)) return 0;
  const index = wellKnown.findIndex((pattern) => pattern.test(name));
  if (index >= 0) return 1 + index;
  if (Object.values(regional).some((pattern) => pattern.test(name))) return 20;
  return otherStyles.test(name) ? Number.POSITIVE_INFINITY : 30;
}

function boldPath(path: string): string {
  const name = basename(path);
  const bold = /regular/i.test(name) ? name.replace(/regular/i, 'Bold') : name.replace(/(\.\w+)$/, '-Bold$1');
  return join(dirname(path), bold);
}
