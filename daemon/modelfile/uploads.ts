import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import { formatShare, messageOf } from '../../protocol/base/text.ts';
import type { PartProgress } from '../../protocol/messages/messageTypes.ts';
import { RunnerError } from '../base/errors.ts';
import { openRegularFile } from '../base/regularFile.ts';
import type { Report } from '../rpc/workDoneProgress.ts';
import type { Digests, Runner } from '../runner/runner.ts';
import type { ModelFile } from './modelSources.ts';

/** Bytes of one read from the disk: enough to be fast, and few enough to keep the event loop free. */
const pieceSize = 512 * 1024;

type BlobStore = Required<Pick<Runner, 'hasBlob' | 'uploadBlob'>>;

/**
 * Uploads files to the runner. Each file is read once for its digest, and once more, as a stream, if the runner does
 * not have it yet. Memory use does not grow with the size of a file.
 */
export class Uploads {
  readonly #progress: UploadProgress;

  /** The progress covers all of these files together. */
  constructor(
    private readonly runner: BlobStore,
    files: readonly ModelFile[],
    report: Report,
  ) {
    this.#progress = new UploadProgress(files, report);
  }

  /** Returns the digests by name. */
  async send(wanted: readonly ModelFile[], signal: AbortSignal): Promise<Digests> {
    const digests: [string, string][] = [];
    for (const file of wanted) digests.push([file.name, await this.#sendFile(file, signal)]);
    return Object.fromEntries(digests);
  }

  async #sendFile(file: ModelFile, signal: AbortSignal): Promise<string> {
    const digest = await digestOf(file, this.#progress.counter(file, 'Reading'), signal);
    const sent = this.#progress.counter(file, 'Uploading');
    if (await this.runner.hasBlob(digest, signal)) sent(file.bytes);
    else await upload(this.runner, { file, digest, sent }, signal);
    return digest;
  }
}

type Count = (bytes: number) => void;

/** A file must not exceed the size that it had: one that grows without end would be read without end. */
async function digestOf({ path, bytes }: ModelFile, count: Count, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    const file = await openRegularFile(path);
    try {
      const buffer = Buffer.allocUnsafe(pieceSize);
      let read = 0;
      for (;;) {
        signal.throwIfAborted();
        const { bytesRead } = await file.read(buffer, 0, pieceSize, null);
        if (bytesRead === 0) return `sha256:${hash.digest('hex')}`;
        read += bytesRead;
        if (read > bytes) throw new Error('it grows while it is read');
        hash.update(buffer.subarray(0, bytesRead));
        count(bytesRead);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw signal.aborted ? error : unreadable(path, error);
  }
}

async function upload(
  runner: BlobStore,
  { file, digest, sent }: { readonly file: ModelFile; readonly digest: string; readonly sent: Count },
  signal: AbortSignal,
): Promise<void> {
  const { path, bytes } = file;
  const opened = await openRegularFile(path).catch((error) => {
    throw unreadable(path, error);
  });
  const source = opened.createReadStream({ highWaterMark: pieceSize });
  const stream = counted(source, sent);
  let problem: Error | undefined;
  // A reader notices the error by the end of the stream. This listener is for the case that nobody reads it any more.
  stream.on('error', () => undefined);
  source.on('error', (error) => {
    problem = error;
    stream.destroy(error);
  });
  try {
    await runner.uploadBlob(digest, { bytes, stream }, signal);
  } catch (error) {
    if (problem) throw unreadable(path, problem);
    throw error instanceof RunnerError && /digest mismatch/.test(error.message)
      ? changed(path, error)
      : error;
  } finally {
    source.destroy();
    stream.destroy();
  }
}

/** The stream, which counts its bytes as they are read. */
function counted(source: Readable, count: Count): Readable {
  const counter = new Transform({
    readableHighWaterMark: pieceSize,
    writableHighWaterMark: pieceSize,
    transform(chunk: Buffer, _encoding, done) {
      count(chunk.length);
      done(null, chunk);
    },
  });
  return source.pipe(counter);
}

/** Each file counts twice: it is read for its digest, and then sent. */
class UploadProgress {
  readonly #total: number;
  readonly #parts: PartProgress[] = [];
  #completed = 0;

  constructor(
    files: readonly ModelFile[],
    private readonly report: Report,
  ) {
    this.#total = 2 * files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  counter({ name, bytes }: ModelFile, verb: 'Reading' | 'Uploading'): Count {
    const label = verb === 'Reading' ? `${name} (reading)` : name;
    const index = this.#parts.push({ name: label, completed: 0, total: bytes }) - 1;
    let completed = 0;
    return (more) => {
      completed += more;
      this.#completed += more;
      this.#parts[index] = { name: label, completed: Math.min(completed, bytes), total: bytes };
      this.report({
        message: `${verb} ${name}: ${formatShare(completed, bytes)}`,
        completed: Math.min(this.#completed, this.#total),
        total: this.#total,
        parts: this.#parts.slice(-64),
      });
    };
  }
}

function unreadable(path: string, cause: unknown): RunnerError {
  const reason = messageOf(cause);
  return new RunnerError(
    'invalid-request',
    `${path} cannot be read: ${reason}. Check that the file exists and is readable.`,
    { cause },
  );
}

function changed(path: string, cause: RunnerError): RunnerError {
  return new RunnerError(
    'invalid-request',
    `${path} changed while it was being sent. Create the model again when nothing writes to the file any more.`,
    { cause },
  );
}
