import { access, constants, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathFolders, runProgram } from '../../protocol/base/platform/program.ts';
import type { InstalledProgram } from '../../protocol/messages/engine.ts';
import { plainText } from '../base/programOutput.ts';

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
