import { type LinkedSignal, linkedSignal } from '../../../protocol/base/abort.ts';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import type { LoadingState } from '../../../protocol/messages/models.ts';
import { readEvents, type ServerSentEvent } from '../http/textStreams.ts';
import type { Transport } from '../http/transport.ts';

/** What the router of llama.cpp reports about one of its models. */
export interface RouterEvent {
  readonly model: string;
  readonly event: string;
  /** In events about a status: `loading`, `loaded` and so on. */
  readonly status?: string;
  /** Of the load, from 0 to 100. */
  readonly percent?: number;
  /** Of a download, by the address of the file. */
  readonly files?: ReadonlyMap<string, DownloadBytes>;
}

/** In bytes. */
export interface DownloadBytes {
  readonly done: number;
  readonly total: number;
}

/** The event; undefined if it has not the form of one. */
function tryRouterEvent({ data: text }: ServerSentEvent): RouterEvent | undefined {
  const value = tryJson(text);
  if (!isRecord(value) || typeof value['model'] !== 'string') return undefined;
  const { model, event, data } = value;
  const { status, progress } = isRecord(data) ? data : {};
  const about = isRecord(progress) ? progress : {};
  return {
    model,
    event: typeof event === 'string' ? event : '',
    ...(typeof status === 'string' ? { status } : {}),
    ...(event === 'download_progress' ? { files: filesOf(about) } : percentOf(about)),
  };
}

/** A model is loaded in stages, such as its text and its images, each of which counts from 0 to 1. */
function percentOf({ stages, current, value }: Readonly<Record<string, unknown>>): LoadingState {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) return {};
  const all = Array.isArray(stages) && stages.length > 0 ? stages : [current];
  return { percent: Math.round(((Math.max(0, all.indexOf(current)) + value) / all.length) * 100) };
}

function filesOf(progress: Readonly<Record<string, unknown>>): ReadonlyMap<string, DownloadBytes> {
  const files = new Map<string, DownloadBytes>();
  for (const [url, file] of Object.entries(progress)) {
    const { done, total } = isRecord(file) ? file : {};
    if (typeof done === 'number' && typeof total === 'number') files.set(url, { done, total });
  }
  return files;
}

/**
 * The events of a router, read while somebody needs them: they say how far a load or a download has come, and when to
 * look at the list again. The list alone says what is true, since a connection gets no events from before it began, and
 * old servers have none.
 */
export class RouterEvents {
  #reading: LinkedSignal | undefined;
  readonly #followers = new Map<(event: RouterEvent) => void, string>();
  readonly #loading = new Map<string, LoadingState>();

  constructor(private readonly transport: Transport) {}

  /** Calls `follower` with the events of one model, until the function that is returned is called. */
  follow(model: string, follower: (event: RouterEvent) => void): () => void {
    this.#followers.set(follower, model);
    this.#begin();
    return () => {
      this.#followers.delete(follower);
      this.#endIfIdle();
    };
  }

  /** How far each of these models has come, which the list says are being loaded. All others are not. */
  loadingStates(models: readonly string[]): ReadonlyMap<string, LoadingState> {
    for (const model of this.#loading.keys()) if (!models.includes(model)) this.#loading.delete(model);
    for (const model of models) this.#loading.set(model, this.#loading.get(model) ?? {});
    if (models.length > 0) this.#begin();
    else this.#endIfIdle();
    return this.#loading;
  }

  #begin(): void {
    if (this.#reading) return;
    const reading = linkedSignal(this.transport.closing);
    this.#reading = reading;
    void this.#read(reading.signal)
      // Without events, what is waited for is seen in the list.
      .catch(() => undefined)
      .finally(() => {
        reading.unlink();
        if (this.#reading === reading) this.#reading = undefined;
      });
  }

  async #read(signal: AbortSignal): Promise<void> {
    const request = { method: 'GET', path: '/models/sse', wait: 'firstByte', signal } as const;
    for await (const events of this.transport.stream(request, readEvents))
      for (const event of events) {
        const said = tryRouterEvent(event);
        if (said) this.#note(said);
      }
  }

  #note(event: RouterEvent): void {
    const { model, status, percent } = event;
    if (status === 'loading') this.#loading.set(model, percent === undefined ? {} : { percent });
    else if (status !== undefined) this.#loading.delete(model);
    for (const [follower, followed] of this.#followers) if (followed === model) follower(event);
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#followers.size > 0 || this.#loading.size > 0) return;
    this.#reading?.abort();
    this.#reading = undefined;
  }
}
