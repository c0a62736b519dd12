import { access, constants, lstat, readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import { pathFolders, runProgram, startProgram } from '../../protocol/base/platform/program.ts';
import { formatShare, messageOf } from '../../protocol/base/text.ts';
import type { InstalledProgram } from '../../protocol/messages/engine.ts';
import { plainText } from '../base/programOutput.ts';
import type { WorkState } from '../rpc/workDoneProgress.ts';

type Product = InstalledProgram['product'];

interface ProgramDescription {
  readonly product: Product;
  readonly name: string;
  /** What it prints with `--version`; the group is its version. */
  readonly version: RegExp;
  /** Where installers put it, beside the folders of PATH. */
  readonly places: (env: NodeJS.ProcessEnv) => Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>>;
}

const usualPlaces = (name: string) => ({
  linux: [`/usr/local/bin/${name}`, `/usr/bin/${name}`],
  darwin: [`/opt/homebrew/bin/${name}`, `/usr/local/bin/${name}`],
});

const wanted: readonly ProgramDescription[] = [
  {
    product: 'ollama',
    name: 'ollama',
    // The first form is a server's that runs, the second the client's own if none does.
    version: /^(?:ollama version is|Warning: client version is) (\S+)/m,
    places: ({ LOCALAPPDATA: local = homedir() }) => ({
      ...usualPlaces('ollama'),
      darwin: [
        ...usualPlaces('ollama').darwin,
        '/Applications/Ollama.app/Contents/Resources/ollama',
        join(homedir(), 'Applications/Ollama.app/Contents/Resources/ollama'),
      ],
      win32: [join(local, 'Programs', 'Ollama', 'ollama.exe')],
    }),
  },
  {
    product: 'llama.cpp',
    name: 'llama-server',
    version: /^version: (\S+)/m,
    places: ({ LOCALAPPDATA: local = homedir() }) => ({
      ...usualPlaces('llama-server'),
      win32: [join(local, 'Microsoft', 'WinGet', 'Links', 'llama-server.exe')],
    }),
  },
];

/** How long a program may take to say its version, in ms, and how much it may say, in bytes. */
const sayWithin = 3_000;
const maxSaid = 64 * 1024;

/**
 * The programs on this machine that run models, at most one of each product. A program counts only if it says itself
 * what it is: its name proves nothing.
 */
export async function findPrograms(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): Promise<readonly InstalledProgram[]> {
  const found = await Promise.all(wanted.map((program) => findProgram(program, env, platform)));
  return found.flatMap((program) => program ?? []);
}

async function findProgram(
  { product, name, version: pattern, places }: ProgramDescription,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): Promise<InstalledProgram | undefined> {
  const candidates = [...onPath(name, env, platform), ...(places(env)[platform] ?? [])];
  const asked = new Set<string>();
  for (const path of candidates) {
    const file = await realpath(path).catch(() => path);
    if (asked.has(file) || !(await isExecutable(path))) continue;
    asked.add(file);
    const [, version] = pattern.exec(await versionOf(path, env)) ?? [];
    if (version !== undefined) return { product, path, version: version.slice(0, 40) };
  }
  return undefined;
}

/** Where PATH may have it. */
export function onPath(name: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): readonly string[] {
  const file = platform === 'win32' ? `${name}.exe` : name;
  return pathFolders(env, platform).map((folder) => join(folder, file));
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** What it prints, also if it fails; empty if it takes too long. */
async function versionOf(path: string, env: NodeJS.ProcessEnv): Promise<string> {
  const options = { env, timeout: sayWithin, killSignal: 'SIGKILL', maxBuffer: maxSaid } as const;
  try {
    const { stdout, stderr } = await runProgram(path, ['--version'], options);
    return plainLines(`${stdout}\n${stderr}`);
  } catch {
    return '';
  }
}

function plainLines(text: string): string {
  return text.split('\n').map(plainText).join('\n');
}

export interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** The program ends with this process, however that ends. */
  readonly groups: ProcessGroups;
  /** Ends the program. */
  readonly signal: AbortSignal;
}

/** How much of what a program writes is kept, in characters. */
const kept = 16_000;

/**
 * Runs a program to its end, without a shell, and returns what it wrote to standard output.
 * @throws {Error} with the line of its standard error that says what went wrong.
 */
export async function runChild(
  file: string,
  args: readonly string[],
  options: ChildOptions,
): Promise<string> {
  const { cwd, env, platform, groups, signal } = options;
  signal.throwIfAborted();
  const child = startProgram(file, args, {
    cwd,
    env,
    platform,
    leadsGroup: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  groups.add(child);
  const end = () => void groups.end(child);
  signal.addEventListener('abort', end, { once: true });
  let [said, wrong] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-kept);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    wrong = (wrong + text).slice(-kept);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  }).finally(() => signal.removeEventListener('abort', end));
  signal.throwIfAborted();
  await groups.end(child);
  if (code === 0) return said;
  throw new Error(reasonIn(wrong) ?? `It ended with exit code ${code}.`);
}

/** npm says first what went wrong, and then where its log is; pip says it in its first error, Node above the stack. */
function reasonIn(text: string): string | undefined {
  const lines = text.split('\n').map((line) => plainText(line).trim());
  const errors = lines.flatMap((line) => errorLine.exec(line)?.[1] ?? []);
  return (errors[0] ?? lines.findLast((line) => line !== ''))?.slice(0, 300);
}

const errorLine = /^(?:npm error(?! code| errno)|ERROR:|\w*Error:|.*(?=symbol lookup error)) ?(.+)/;

/** The reason of a failure as a sentence, to be put behind a colon. */
export function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** How often, in ms. */
const lookEvery = 700;

/**
 * Reports how far a program has come that downloads into this folder, from what it has written there, until the
 * returned function is called.
 */
export function reportGrowth(
  folder: string,
  total: number,
  what: string,
  report: (state: WorkState) => void,
): () => void {
  report({ message: what });
  let [isLooking, isOver] = [false, false];
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    const completed = Math.min(total, await bytesIn(folder));
    isLooking = false;
    if (!isOver) report({ message: `${what}: ${formatShare(completed, total)}`, completed, total });
  }, lookEvery);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

/** What changes while it is looked at counts or does not. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += await bytesIn(path);
    else if (entry.isFile()) sum += (await lstat(path).catch(() => undefined))?.size ?? 0;
  }
  return sum;
}
