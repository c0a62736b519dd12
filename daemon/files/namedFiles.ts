import { realpath, stat } from 'node:fs/promises';
import { extname, relative, sep } from 'node:path';
import { unescape as decoded } from 'node:querystring';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expandPath, findPath, isHomeOrRoot } from '../../protocol/base/platform/folders.ts';
import { formatBytes, messageOf } from '../../protocol/base/text.ts';
import type { FindFilesParams, FoundFile, FoundMention } from '../../protocol/messages/files.ts';
import type { FindPrivacy } from '../base/filePrivacy.ts';
import { createGlob } from '../base/pathRules.ts';
import { readRegularBytes } from '../base/regularFile.ts';
import { usualTokens } from '../chat/turnWindow.ts';
import type { AskableServer } from '../tools/toolServer.ts';
import { filesOf, Omissions } from './folderFiles.ts';
import { isGlob, looksLikePath, type Mention, mentionsIn, namesOf } from './mentions.ts';
import { type FoundResource, findResource } from './serverResources.ts';

export { searchFiles } from './fileSearch.ts';
export { fetchPage } from './page.ts';
export { createResourceWords } from './serverResources.ts';

/** For one text: mentions, files, and bytes of all their texts. A longer text fits into no context window. */
const maxMentions = 50;
const maxFiles = 100;
const maxBytes = 4 * 1024 * 1024;
/** In bytes. Larger files in a folder are seldom meant. */
const maxOfFolder = 512 * 1024;
const maxImage = 32 * 1024 * 1024;

interface NamedFilesOptions {
  readonly findPrivacy: FindPrivacy;
  /** The tool servers, whose resources can be named. */
  readonly servers: () => Promise<readonly AskableServer[]>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What the words of a text name, in their order. A file is found once. What is read is not searched for more. */
export async function findNamedFiles(
  { text, cwd }: FindFilesParams,
  options: NamedFilesOptions,
): Promise<readonly FoundMention[]> {
  const mentions = [...new Map(mentionsIn(text).map((mention) => [mention.name, mention])).values()];
  const finder = new Finder(cwd, options);
  const found: FoundMention[] = [];
  for (const mention of mentions.slice(0, maxMentions)) {
    const one = await finder.find(mention);
    if (one) found.push(one);
  }
  const rest = mentions[maxMentions];
  if (rest)
    found.push({
      word: rest.word,
      files: [],
      notes: [`At most ${maxMentions} names are looked up in a prompt.`],
    });
  return found;
}

/** Finds what is named, within what is left of the bounds. */
class Finder {
  readonly #cwd: string;
  readonly #options: NamedFilesOptions;
  readonly #seen = new Set<string>();
  #files = maxFiles;
  #bytes = maxBytes;

  constructor(cwd: string, options: NamedFilesOptions) {
    this.#cwd = cwd;
    this.#options = options;
  }

  async find(mention: Mention): Promise<FoundMention | undefined> {
    this.#options.signal.throwIfAborted();
    const names = namesOf(mention);
    const { word } = mention;
    const url = names.map(tryAddress).findLast((one) => one !== undefined);
    if (url !== undefined) return { word, files: [], url, notes: [] };
    for (const typed of names) {
      const place = await findPath(this.#place(typed));
      if (place === undefined) continue;
      const name = place === this.#place(typed) ? typed : this.#nameOf(place, typed);
      return (await stat(place)).isDirectory() ? this.#folder(word, name) : this.#file(word, name);
    }
    const resource = await findResource(names, this.#options);
    if (resource) return this.#resource(word, resource);
    const name = names.at(-1) ?? '';
    if (isGlob(name)) return this.#glob(word, name);
    return looksLikePath(name) ? onlyText(word, `There is no file ${name}`) : undefined;
  }

  #place(name: string): string {
    return expandPath(this.#cwd, name);
  }

  /** How the user would have typed the name of a file as the disk has it. */
  #nameOf(place: string, typed: string): string {
    return relative(this.#cwd, place).replaceAll(sep, '/') + (typed.endsWith('/') ? '/' : '');
  }

  async #file(word: string, name: string): Promise<FoundMention> {
    const refused = (why: string) => ({ word, files: [], notes: [`${name} ${why}, so it is not attached.`] });
    const path = this.#place(name);
    if (this.#isSeen(path)) return { word, files: [], notes: [] };
    if (this.#files === 0) return refused(`is beyond ${maxFiles} files`);
    try {
      const bytes = await readRegularBytes(path, maxImage);
      const isImage = isPicture(bytes);
      if (!isImage && bytes.length > this.#bytes)
        return refused(
          `has ${formatBytes(bytes.length)}, and at most ${formatBytes(maxBytes)} of text go along with a prompt`,
        );
      if (!isImage && bytes.includes(0)) return refused('is no text');
      return { word, files: [await this.#found(name, path, bytes)], notes: [] };
    } catch (error) {
      return refused(`cannot be read (${messageOf(error)})`);
    }
  }

  async #resource(word: string, found: FoundResource): Promise<FoundMention> {
    if ('problem' in found) return onlyText(word, found.problem.replace(/\.$/, ''));
    const files: FoundFile[] = [];
    const notes: string[] = [];
    for (const { path, uri, bytes } of found.contents) {
      const isImage = isPicture(bytes);
      const refused = (why: string) => notes.push(`${path} ${why}, so it is not attached.`);
      if (this.#isSeen(path)) continue;
      if (this.#files === 0) refused(`is beyond ${maxFiles} files`);
      else if (!isImage && bytes.length > this.#bytes)
        refused(`has ${formatBytes(bytes.length)}, which is too much to attach`);
      else if (!isImage && bytes.includes(0)) refused('is no text');
      else
        files.push(
          await this.#asFile(path, bytes, {
            uri,
            private: pathOfUri(uri),
          }),
        );
    }
    return { word, files, notes };
  }

  async #folder(word: string, name: string): Promise<FoundMention | undefined> {
    if (/^\.{1,2}$/.test(name)) return undefined;
    if (!name.endsWith('/'))
      return { word, files: [], notes: [`${name} is a folder. To attach its files, write @${name}/`] };
    return this.#below(word, { base: name, isWanted: () => true, depth: Number.POSITIVE_INFINITY });
  }

  async #glob(word: string, name: string): Promise<FoundMention | undefined> {
    const parts = name.split('/');
    const first = parts.findIndex(isGlob);
    const pattern = parts.slice(first).join('/');
    const base = parts
      .slice(0, first)
      .map((part) => `${part}/`)
      .join('');
    const depth = pattern.includes('**') ? Number.POSITIVE_INFINITY : parts.length - first - 1;
    const found = await this.#below(word, { base, isWanted: createGlob(pattern), depth });
    if (found.files.length + found.notes.length > 0) return found;
    return looksLikePath(name) ? onlyText(word, `No file matches ${name}`) : undefined;
  }

  async #below(word: string, { base, isWanted, depth }: Below): Promise<FoundMention> {
    const { now, signal, findPrivacy } = this.#options;
    const root = await realpath(this.#place(base)).catch(() => undefined);
    if (root === undefined) return onlyText(word, `There is no folder ${base}`);
    if (await isHomeOrRoot(root)) return onlyText(word, `${base} is too much to attach`);
    const left = new Omissions();
    const files: FoundFile[] = [];
    for await (const { name, path } of filesOf({ root, isWanted, depth, left, now, signal })) {
      const privacy = await findPrivacy(path);
      if (privacy) left.add(privacy);
      else if (this.#seen.has(path)) continue;
      else if (this.#files === 0) {
        left.stop(`everything beyond ${maxFiles} files`);
        break;
      } else {
        const bytes = await readOf(path, Math.min(maxOfFolder, this.#bytes));
        if (typeof bytes === 'string') left.add(bytes);
        else if (bytes.includes(0)) left.add('binary');
        else if (!this.#isSeen(path)) files.push(await this.#found(base + name, path, bytes));
      }
    }
    const note = left.sentence(word);
    return { word, files, notes: note === undefined ? [] : [note] };
  }

  #isSeen(path: string): boolean {
    const isSeen = this.#seen.has(path);
    this.#seen.add(path);
    return isSeen;
  }

  #found(name: string, path: string, bytes: Buffer): Promise<FoundFile> {
    return this.#asFile(name, bytes, { uri: pathToFileURL(path).href, private: path });
  }

  async #asFile(name: string, bytes: Buffer, origin: Origin): Promise<FoundFile> {
    const privacy =
      origin.private === undefined ? undefined : await this.#options.findPrivacy(origin.private);
    this.#files -= 1;
    const about = { path: name, bytes: bytes.length, ...(privacy && { privacy }) };
    if (isPicture(bytes))
      return { ...about, tokens: usualTokens({ characters: 0, images: 1 }), image: bytes.toString('base64') };
    this.#bytes -= bytes.length;
    const text = bytes.toString('utf8').replace(/^\ufeff/, '');
    const language = extname(name).slice(1);
    const attachment = {
      path: name,
      text,
      uris: [origin.uri],
      ...(/^\w{1,20}$/.test(language) ? { language } : {}),
    };
    return { ...about, tokens: usualTokens({ characters: text.length, images: 0 }), attachment };
  }
}

interface Origin {
  readonly uri: string;
  /** The path by which it may be private. */
  readonly private: string | undefined;
}

function pathOfUri(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    // Without a drive it is no path of Windows, but its name counts all the same.
    return uri.startsWith('file:') ? decoded(uri) : undefined;
  }
}

interface Below {
  /** As typed, empty or with a slash at its end. */
  readonly base: string;
  readonly isWanted: (name: string) => boolean;
  readonly depth: number;
}

function onlyText(word: string, why: string): FoundMention {
  return { word, files: [], notes: [`${why}, so ${word} is only text.`] };
}

/** The address that a name is; undefined if it is none. */
function tryAddress(name: string): string | undefined {
  return /^https?:\/\/[^/]/i.test(name) && URL.canParse(name) ? new URL(name).href : undefined;
}

/** The bytes of a file, or why it is left out. */
async function readOf(path: string, limit: number): Promise<Buffer | 'large' | 'unreadable'> {
  const size = await stat(path).then(
    (found) => (found.isFile() ? found.size : undefined),
    () => undefined,
  );
  if (size === undefined) return 'unreadable';
  if (size > limit) return 'large';
  return readRegularBytes(path, limit).catch(() => 'unreadable' as const);
}

/** The first bytes of the formats that models take, as Latin-1. */
const imageMarks = [/^\x89PNG\r\n/, /^\xff\xd8\xff/, /^GIF8/, /^RIFF.{4}WEBP/s];

function isPicture(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 16).toString('latin1');
  return imageMarks.some((mark) => mark.test(head));
}
