import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSharedWork } from '../../protocol/base/keyedWork.ts';
import { replaceFile } from '../../protocol/base/platform/privateFile.ts';
import { LruCache } from '../base/lruCache.ts';
import type { Document } from '../content/document.ts';
import type { Renderer } from './renderer.ts';
import { type RenderJob, UnrenderableError } from './renderJob.ts';

/** A document or a collection in one format. Its entity tag is known before anything is rendered. */
export type Rendition = ReturnType<RenditionMaker['make']>;

export interface RenditionMakerOptions {
  readonly renderer: Renderer;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Without a cache, each caller keeps what it needs. */
  readonly cache?: RenditionCache;
  /** Changes with every version of the code that renders, because a cache outlives the process. */
  readonly version?: string;
  /** Called with something that a reader of the rendition should know, such as a picture that was left out. */
  readonly onNote?: (note: string) => void;
}

const mediaTypes: Readonly<Record<Exclude<RenderJob['kind'], 'picture'>, string>> = {
  pdf: 'application/pdf',
  pdfBook: 'application/pdf',
  epub: 'application/epub+zip',
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  shownText: 'text/markdown; charset=utf-8',
  parts: 'application/json',
  pictureList: 'application/json',
};

/** Milliseconds for which an unrenderable document is not tried again, unless it changes. */
const failureLifetime = 300_000;
const rememberedFailures = 1_000;

/** Makes renditions that share one rendering among simultaneous callers, and remembers what cannot be rendered. */
export class RenditionMaker {
  readonly #running = createSharedWork<Uint8Array>();
  readonly #failures = new LruCache<{ readonly error: UnrenderableError; readonly until: number }>(
    rememberedFailures,
  );

  constructor(private readonly options: RenditionMakerOptions) {}

  /**
   * Identifies the text of a rendition in one format. Throws if it could not be rendered a short time ago. Callers ask
   * before they look at any file.
   */
  subject(format: string, text: readonly unknown[]): string {
    const subject = digestOf([format, ...text]);
    this.#refuseFailed(subject);
    return subject;
  }

  #refuseFailed(subject: string): void {
    const failure = this.#failures.get(subject);
    if (failure !== undefined && failure.until > this.options.now()) throw failure.error;
  }

  /**
   * @param inputs everything that the bytes depend on besides the kind of the job
   * @param subject from `subject`, if the bytes depend on more than that: a rendering that failed fails again while
   *   this stays the same, whatever the pictures are
   */
  make(job: RenderJob, inputs: readonly unknown[], subject?: string) {
    const { cache, version } = this.options;
    const etag = `"${digestOf([job.kind, version, ...inputs]).slice(0, 32)}"`;
    const cause = subject ?? etag;
    return {
      /** Strong, with its quotes: it changes with everything that the bytes depend on. */
      etag,
      mediaType: job.kind === 'picture' ? job.mediaType : mediaTypes[job.kind],
      /** In bytes; undefined if it is not in the cache. */
      cachedSize: () => cache?.sizeOf(etag),
      /** The file in the cache, which the caller closes. */
      openCached: async () => cache?.open(etag),
      cached: async () => cache?.get(etag),
      /** @throws {UnrenderableError} @throws {RendererBusyError} */
      render: async (signal: AbortSignal) => {
        this.#refuseFailed(cause);
        return this.#running.join(etag, (ended) => this.#render(job, etag, cause, ended), { signal });
      },
    };
  }

  async #render(job: RenderJob, etag: string, subject: string, signal: AbortSignal): Promise<Uint8Array> {
    const { renderer, cache, now, onNote } = this.options;
    try {
      const { bytes, notes } = await renderer.render(job, signal);
      for (const note of notes) onNote?.(note);
      await cache?.put(etag, bytes);
      return bytes;
    } catch (error) {
      // It would fail again, after as much work.
      if (error instanceof UnrenderableError)
        this.#failures.set(subject, { error, until: now() + failureLifetime }, 1);
      throw error;
    }
  }
}

/** What the rendition of a document depends on, links and pictures apart. */
export function identityOf({ path, slug, contentHash }: Document): readonly string[] {
  return [path, slug, contentHash];
}

function digestOf(inputs: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(inputs)).digest('base64url');
}

/** In milliseconds: how precisely the time of last use is kept for the next start. */
const precision = 60_000;

/** Keeps rendered files across restarts. Its folder may be deleted at any time. */
export class RenditionCache {
  #total: number;
  /** Callers that waited for the same rendering also wait for the same file. */
  readonly #writing = new Map<string, Promise<void>>();

  private constructor(
    private readonly folder: string,
    private readonly capacity: number,
    private readonly onError: (error: Error) => void,
    /** The least recently used first. */
    private readonly sizes: Map<string, number>,
  ) {
    this.#total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /** @param capacity in bytes; the least recently used file is deleted first */
  static async open(
    folder: string,
    capacity: number,
    onError: (error: Error) => void,
  ): Promise<RenditionCache> {
    await makeFolder(folder);
    return new RenditionCache(folder, capacity, onError, await readSizes(folder));
  }

  /** In bytes; undefined if the rendition is not in the cache. Nothing is opened. */
  sizeOf(key: string): number | undefined {
    return this.sizes.get(fileOf(key));
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const handle = await this.open(key);
    return handle?.readFile().finally(() => handle.close());
  }

  /** The file, which its caller closes. It can be read to its end even if it is deleted meanwhile. */
  async open(key: string): Promise<FileHandle | undefined> {
    const file = fileOf(key);
    const size = this.sizes.get(file);
    if (size === undefined) return undefined;
    const handle = await open(join(this.folder, file)).catch(() => undefined);
    const found = await handle?.stat();
    if (handle === undefined || found?.size !== size) {
      this.#forget(file);
      await handle?.close();
      return undefined;
    }
    // The most recently used is last.
    if (this.sizes.delete(file)) this.sizes.set(file, size);
    const now = new Date();
    if (now.getTime() - found.mtimeMs > precision) await handle.utimes(now, now).catch(this.onError);
    return handle;
  }

  /** A full disk costs speed, but no answer. */
  async put(key: string, bytes: Uint8Array): Promise<void> {
    const file = fileOf(key);
    if (bytes.length > this.capacity || this.sizes.has(file)) return;
    const own = this.#writing.get(file) ?? this.#write(file, bytes).catch(this.onError);
    this.#writing.set(file, own);
    await own;
    this.#writing.delete(file);
  }

  async #write(file: string, bytes: Uint8Array): Promise<void> {
    const partial = join(this.folder, `${file}.part`);
    try {
      await makeFolder(this.folder);
      await writeFile(partial, bytes, { mode: 0o600 });
      await replaceFile(partial, join(this.folder, file));
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    this.sizes.set(file, bytes.length);
    this.#total += bytes.length;
    for (const oldest of this.sizes.keys()) {
      if (this.#total <= this.capacity) return;
      this.#forget(oldest);
      await rm(join(this.folder, oldest), { force: true });
    }
  }

  #forget(file: string): void {
    this.#total -= this.sizes.get(file) ?? 0;
    this.sizes.delete(file);
  }
}

function fileOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** The files with their sizes, the least recently used first. It deletes unfinished files. */
async function readSizes(folder: string): Promise<Map<string, number>> {
  const files: { readonly name: string; readonly size: number; readonly used: number }[] = [];
  for (const name of await readdir(folder)) {
    if (!/^[0-9a-f]{64}$/.test(name)) await rm(join(folder, name), { force: true, recursive: true });
    else {
      const { size, mtimeMs } = await stat(join(folder, name));
      files.push({ name, size, used: mtimeMs });
    }
  }
  files.sort((a, b) => a.used - b.used);
  return new Map(files.map(({ name, size }) => [name, size]));
}
