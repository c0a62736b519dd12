import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { orAborted } from '../../../protocol/base/abort.ts';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { SerialQueue } from '../../../protocol/base/keyedWork.ts';
import { folderKey } from '../../../protocol/base/platform/folders.ts';
import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { withoutMiddle } from '../../../protocol/base/text.ts';
import type { Checks, ListedCheck, SuggestedCheck } from '../../../protocol/messages/tools.ts';
import { InvalidParamsError } from '../../base/errors.ts';
import { readRegularFile } from '../../base/regularFile.ts';
import type { CallOutcome, PreparedCall } from '../../chat/daemonTools.ts';
import { pathWord } from '../../config/valueSchemas.ts';
import type { KeptApprovals } from '../approvals.ts';
import { inheritedEnv } from '../serverTransport.ts';
import { fingerprintOf } from '../toolList.ts';
import { type CheckRun, runCheck } from './checkRun.ts';
import { FileProblemError } from './fileProblem.ts';
import type { Workspace, WorkspacePlace } from './workspace.ts';

/** A command that the user lets models run in a folder of the project, which is named without links. */
export interface Check extends ListedCheck {
  /** How long it may take, in ms. */
  readonly limit: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Where checks come from, and whether any counts now. */
export interface ChecksContext {
  /** What the user has configured; what comes later counts more. */
  readonly configuredChecks: () => readonly Checks[];
  /** False if the user does not trust the workspace. */
  readonly isTrusted: () => boolean;
  /** The longest that any call may take, in ms; 0 means no limit. */
  readonly toolTotal: () => number;
  /** Has the suggestions that the user has taken. One counts as long as its file suggests the same. */
  readonly kept: KeptApprovals;
  readonly groups: ProcessGroups;
}

interface CheckRunnerOptions extends ChecksContext {
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly now: () => number;
}

const usualSeconds = 120;
/** What programs are told, so that they neither ask nor draw. */
const quiet = { CI: '1', NO_COLOR: '1', TERM: 'dumb', PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

/** Runs checks, one at a time, and answers what a client asks about them. */
export class CheckRunner {
  readonly #options: CheckRunnerOptions;
  readonly #queue = new SerialQueue();

  constructor(options: CheckRunnerOptions) {
    this.#options = options;
  }

  /** The checks of the folders. If two folders have one of the same name, it is that of the first. */
  async configured(): Promise<readonly Check[]> {
    const { workspace, isTrusted, toolTotal } = this.#options;
    if (!isTrusted()) return [];
    const found = new Map<string, Check>();
    for (const folder of await workspace.folders())
      for (const [name, { command, timeout = usualSeconds, env = {} }] of await this.#checksIn(folder)) {
        const limit = Math.min(timeout * 1_000, toolTotal() || Number.POSITIVE_INFINITY);
        if (!found.has(name)) found.set(name, { name, folder, command, limit, env });
      }
    return [...found.values()];
  }

  async list(): Promise<readonly ListedCheck[]> {
    return (await this.configured()).map(({ name, folder, command }) => ({ name, folder, command }));
  }

  async suggest(): Promise<readonly SuggestedCheck[]> {
    const { workspace, isTrusted } = this.#options;
    if (!isTrusted()) return [];
    const taken = (await this.configured()).map(({ name }) => name);
    const suggested = await Promise.all((await workspace.folders()).map(suggestedChecks));
    return suggested.flat().filter(({ name }) => !taken.includes(name));
  }

  /** @throws {InvalidParamsError} if nothing suggests it any more. */
  async allow({ folder, name, hash }: Pick<SuggestedCheck, 'folder' | 'name' | 'hash'>): Promise<void> {
    const found = (await this.suggest()).find(
      (one) => one.folder === folder && one.name === name && one.hash === hash,
    );
    if (!found) throw new InvalidParamsError('name', 'its file has changed, or suggests no such check');
    await this.#options.kept.add(keyOf(found));
  }

  /**
   * A check as it was offered, for which approvals hold.
   * @throws {FileProblemError} if it cannot run.
   */
  async prepare(check: Check, path: string | undefined, characters: number): Promise<PreparedCall> {
    const { name } = check;
    const place = await this.#placeOf(check, path);
    const takesPath = check.command.includes(pathWord);
    const command = commandWith(check.command, place?.name);
    const note = place && !takesPath ? '\n[This check takes no path. All of it was run.]' : '';
    const run: PreparedCall['call'] = async (signal, listener) => {
      signal.throwIfAborted();
      // Another program may have changed what it leads to since the user was asked.
      if ((await this.#placeOf(check, path))?.path !== place?.path)
        throw new FileProblemError(`${path} has changed meanwhile. Try again.`);
      const { env, platform } = this.#options;
      const own = { ...inheritedEnv(env, platform), ...quiet, ...check.env };
      const where = { command, cwd: check.folder, limit: check.limit, env: own };
      const ran = await runCheck({ ...this.#options, ...where, onProgress: listener?.onProgress }, signal);
      const { content, ...outcome } = outcomeOf(ran, characters - note.length);
      const { exitCode, ms } = ran;
      return { ...outcome, content: content + note, check: { name, exitCode, ms: Math.round(ms) } };
    };
    return {
      given: place && takesPath ? { name, path: place.name || '.' } : { name },
      command,
      end: () => undefined,
      call: (signal, listener) => {
        const turn = this.#queue.run('check', () => run(signal, listener));
        return orAborted(turn, signal);
      },
    };
  }

  /** What a check is called for. The user may have changed the check since a model was offered it. */
  async #placeOf(check: Check, path: string | undefined): Promise<WorkspacePlace | undefined> {
    const { name, folder } = check;
    const now = (await this.configured()).find((each) => each.name === name);
    // A link may lead elsewhere by now.
    const isThere = (await realpath(folder).catch(() => undefined)) === folder;
    if (!isThere || !isDeepStrictEqual(now, check))
      throw new FileProblemError(`The check ${name} was changed or switched off. Go on without it.`);
    if (!path) return undefined;
    const place = await this.#options.workspace.find(path);
    if (!place.isThere) throw new FileProblemError(`There is no file or folder ${place.name}.`);
    if (place.root === folder) return place;
    throw new FileProblemError(`${path} is not in ${folder}, where the check runs.`);
  }

  /** What is configured counts more than what the user took of the suggestions. */
  async #checksIn(folder: string) {
    const { configuredChecks, kept } = this.#options;
    const found: Record<string, Checks[string][string]> = {};
    for (const suggestion of await suggestedChecks(folder))
      if (await kept.has(keyOf(suggestion))) found[suggestion.name] = { command: suggestion.command };
    const key = await folderKey(folder);
    for (const [other, checks] of configuredChecks().flatMap(Object.entries<Checks[string]>))
      if ((await folderKey(other)) === key) Object.assign(found, checks);
    return Object.entries(found);
  }
}

/** What a client asks about checks. */
export type CheckRequests = Pick<CheckRunner, 'list' | 'suggest' | 'allow'>;

function keyOf(suggestion: SuggestedCheck): string {
  return fingerprintOf(['check', suggestion]);
}

/** The command with the path of a call, or without one. A path never reads as an option, or as a file of options. */
function commandWith(command: readonly string[], path: string | undefined): readonly string[] {
  const shown = path === undefined ? [] : [/^[\w.]/.test(path || '.') ? path || '.' : `./${path}`];
  return command.flatMap((word) => (word === pathWord ? shown : [word]));
}

/** If a check succeeds, the model gets this many lines of its end. */
const linesOfSuccess = 10;

function outcomeOf({ ended, exitCode, isFailed = false, output, ms }: CheckRun, most: number): CallOutcome {
  const duration = `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const first = ended.endsWith('.') ? ended : `${ended} after ${duration}`;
  const lines = output.text.split('\n');
  const isShort = exitCode !== 0 || lines.length <= linesOfSuccess;
  const count = output.lines.toLocaleString('en-US');
  const shown = isShort
    ? output.text
    : `[The last ${linesOfSuccess} of ${count} lines:]\n${lines.slice(-linesOfSuccess).join('\n')}`;
  const body = shown && `\n${withoutMiddle(shown, Math.max(0, most - first.length - 1), output.left)}`;
  return {
    content: `${first}${body}`,
    isError: isFailed,
    ...(body.includes(output.text) ? {} : { output: `${first}\n${output.text}` }),
    // How long it and its parts took differs each time.
    compared: `${ended}\n${output.text.replace(/\d+(?:[.,:]\d+)*/g, '0')}`,
  };
}

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
async function suggestedChecks(folder: string): Promise<readonly SuggestedCheck[]> {
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
