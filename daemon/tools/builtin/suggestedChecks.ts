import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import type { SuggestedCheck } from '../../../protocol/messages/tools.ts';
import { readRegularFile } from '../../base/regularFile.ts';

/** Larger files suggest nothing. */
const maxFile = 1024 * 1024;

/** Names of scripts and targets that check something, and change nothing as a rule. */
const usualNames = ['test', 'lint', 'check', 'typecheck'];

type Suggestion = readonly [file: string, isMeant: (text: string) => boolean, name: string, command: string];

/** What files of projects suggest, in their order: of checks with the same name, the first counts. */
function suggestions(): readonly Suggestion[] {
  return [
    ...usualNames.map((name): Suggestion => ['package.json', hasScript(name), name, `npm run ${name}`]),
    ...usualNames.map((name): Suggestion => ['Makefile', has(`^${name}\\s*:(?!=)`), name, `make ${name}`]),
    ['pyproject.toml', has('^\\[tool\\.pytest\\b'), 'test', 'pytest {path}'],
    ['pyproject.toml', has('^\\[tool\\.ruff\\b'), 'lint', 'ruff check {path}'],
    ['Cargo.toml', () => true, 'test', 'cargo test'],
    ['Cargo.toml', () => true, 'check', 'cargo check'],
    ['go.mod', () => true, 'test', 'go test ./...'],
    ['go.mod', () => true, 'vet', 'go vet ./...'],
  ];
}

function has(pattern: string): Suggestion[1] {
  return (text) => new RegExp(pattern, 'm').test(text);
}

function hasScript(name: string): Suggestion[1] {
  return (text) => {
    const manifest = tryJson(text);
    const scripts = isRecord(manifest) ? manifest['scripts'] : undefined;
    const script = isRecord(scripts) && Object.hasOwn(scripts, name) ? scripts[name] : undefined;
    // npm writes one that only fails.
    return typeof script === 'string' && !script.includes('no test specified');
  };
}

/** What the files of a folder suggest. Nothing of it runs before the user has said so. */
export async function suggestedChecks(folder: string): Promise<readonly SuggestedCheck[]> {
  const named = new Map<string, SuggestedCheck>();
  for (const [file, isMeant, name, command] of suggestions()) {
    const text = await readRegularFile(join(folder, file), maxFile).catch(() => undefined);
    if (text === undefined || named.has(name) || !isMeant(text)) continue;
    // Whatever changes in the file may change what runs.
    const hash = createHash('sha256').update(text).digest('hex');
    named.set(name, { name, command: command.split(' '), folder, file, hash });
  }
  return [...named.values()];
}
