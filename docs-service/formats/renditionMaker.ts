import { createHash } from 'node:crypto';
import { createSharedWork } from '../../protocol/base/sharedWork.ts';
import { LruCache } from '../base/lruCache.ts';
import type { Document } from '../content/document.ts';
import type { Renderer } from './renderer.ts';
import { type RenderJob, UnrenderableError } from './renderJob.ts';
import type { RenditionCache } from './renditionCache.ts';

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
  readonly #options: RenditionMakerOptions;
  readonly #running = createSharedWork<Uint8Array>();
  readonly #failures = new LruCache<{ readonly error: UnrenderableError; readonly until: number }>(
    rememberedFailures,
  );

  constructor(options: RenditionMakerOptions) {
    this.#options = options;
  }

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
    if (failure !== undefined && failure.until > this.#options.now()) throw failure.error;
  }

  /**
   * @param inputs everything that the bytes depend on besides the kind of the job
   * @param subject from `subject`, if the bytes depend on more than that: a rendering that failed fails again while
   *   this stays the same, whatever the pictures are
   */
  make(job: RenderJob, inputs: readonly unknown[], subject?: string) {
    const { cache, version } = this.#options;
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
    const { renderer, cache, now, onNote } = this.#options;
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
