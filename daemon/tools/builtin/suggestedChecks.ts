import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { writePrivateFile } from '../../../protocol/base/platform/privateFile.ts';
import type { Checks, SuggestedCheck } from '../../../protocol/messages/tools.ts';
import { createExclusiveWork } from '../../base/exclusiveWork.ts';
import { readRegularFile, tryReadKept } from '../../base/regularFile.ts';

/** Larger files suggest nothing. */
const maxFile = 1024 * 1024;

type Suggestion = Pick<SuggestedCheck, 'name' | 'command'>;

/** What files of projects suggest, in their order: of checks with the same name, the first counts. */
const suggesting: readonly (readonly [file: string, read: (text: string) => readonly Suggestion[]])[] = [
  ['package.json', scriptsOf],
  ['Makefile', targetsOf],
  [
    'pyproject.toml',
    (text) => [
      ...(/^\[tool\.pytest\b/m.test(text) ? [{ name: 'test', command: ['pytest', '{path}'] }] : []),
      ...(/^\[tool\.ruff\b/m.test(text) ? [{ name: 'lint', command: ['ruff', 'check', '{path}'] }] : []),
    ],
  ],
  [
    'Cargo.toml',
    () => [
      { name: 'test', command: ['cargo', 'test'] },
      { name: 'check', command: ['cargo', 'check'] },
    ],
  ],
  [
    'go.mod',
    () => [
      { name: 'test', command: ['go', 'test', './...'] },
      { name: 'vet', command: ['go', 'vet', './...'] },
    ],
  ],
];

/** Names of scripts and targets that check something, and change nothing as a rule. */
const usualNames = ['test', 'lint', 'check', 'typecheck'];

function scriptsOf(text: string): readonly Suggestion[] {
  const manifest = tryJson(text);
  const scripts = isRecord(manifest) ? manifest['scripts'] : undefined;
  if (!isRecord(scripts)) return [];
  return usualNames.flatMap((name) => {
    const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
    // npm writes one that only fails.
    const isMeant = typeof script === 'string' && !script.includes('no test specified');
    return isMeant ? [{ name, command: ['npm', 'run', name] }] : [];
  });
}

function targetsOf(text: string): readonly Suggestion[] {
  return usualNames
    .filter((name) => new RegExp(`^${name}\\s*:(?!=)`, 'm').test(text))
    .map((name) => ({ name, command: ['make', name] }));
}

/** What the files of a folder suggest. Nothing of it runs before the user has said so. */
export async function suggestedChecks(folder: string): Promise<readonly SuggestedCheck[]> {
  const found = await Promise.all(
    suggesting.map(async ([file, read]) => {
      const text = await readRegularFile(join(folder, file), maxFile).catch(() => undefined);
      if (text === undefined) return [];
      // Whatever changes in the file may change what runs.
      const hash = createHash('sha256').update(text).digest('hex');
      return read(text).map((suggestion) => ({ ...suggestion, folder, file, hash }));
    }),
  );
  const named = new Map<string, SuggestedCheck>();
  for (const one of found.flat()) if (!named.has(one.name)) named.set(one.name, one);
  return [...named.values()];
}

const maxBytes = 1024 * 1024;
const maxKept = 1_000;
/** How long another process may take to read and write the file, in ms. */
const maxTurn = 5_000;

const keptSchema = z.object({
  checks: z.array(
    z.object({
      folder: z.string(),
      name: z.string(),
      command: z.array(z.string()),
      file: z.string(),
      hash: z.string(),
    }),
  ),
});

export type KeptChecks = ReturnType<typeof createKeptChecks>;

/** The suggestions that the user has taken, in a private file. One counts as long as its file suggests the same. */
export function createKeptChecks(path: string) {
  const writing = createExclusiveWork({
    folder: dirname(path),
    longest: maxTurn,
    busy: () => new Error('another Runner process is writing the file. Try again'),
  });
  const readKept = async () => (await tryReadKept(path, { schema: keptSchema, maxBytes }))?.checks ?? [];
  return {
    /** Those of these folders. */
    async read(folders: readonly string[]): Promise<Checks> {
      const kept = (await readKept()).filter(({ folder }) => folders.includes(folder));
      if (kept.length === 0) return {};
      const now = await Promise.all(
        folders.map(async (folder) => [folder, await suggestedChecks(folder)] as const),
      );
      return Object.fromEntries(
        now.map(([folder, suggestions]) => [
          folder,
          Object.fromEntries(
            suggestions
              .filter((one) => kept.some((other) => isSameSuggestion(one, other)))
              .map(({ name, command }) => [name, { command }]),
          ),
        ]),
      );
    },
    /** @throws {Error} if the file cannot be written. */
    add: (check: SuggestedCheck): Promise<void> =>
      writing.run('checks', async () => {
        const others = (await readKept()).filter(
          ({ folder, name }) => folder !== check.folder || name !== check.name,
        );
        const checks = [...others, check].slice(-maxKept);
        await writePrivateFile(path, JSON.stringify({ checks }, undefined, 1));
      }),
    /** Waits until everything is written. */
    close: writing.close,
  };
}

function isSameSuggestion(one: SuggestedCheck, other: SuggestedCheck): boolean {
  const keys = ['folder', 'name', 'file', 'hash'] as const;
  return keys.every((key) => one[key] === other[key]) && one.command.join('\0') === other.command.join('\0');
}
