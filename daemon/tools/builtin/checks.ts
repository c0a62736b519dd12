import { realpath } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { orAborted } from '../../../protocol/base/abort.ts';
import { folderKey } from '../../../protocol/base/platform/folder.ts';
import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import { cutText, withoutMiddle } from '../../../protocol/base/text.ts';
import type { ToolCall } from '../../../protocol/messages/chat.ts';
import type { Checks, ListedCheck, SuggestedCheck } from '../../../protocol/messages/tools.ts';
import { InvalidParamsError } from '../../base/errors.ts';
import type { CallBounds, CallContext, CallOutcome, PreparedCall } from '../../chat/daemonTools.ts';
import { pathWord } from '../../config/settingSchemas.ts';
import { inheritedEnv } from '../serverTransport.ts';
import { fingerprintOf, type McpTool } from '../toolList.ts';
import { type CheckRun, runCheck } from './checkRun.ts';
import { argumentsAsMeant, commandOf } from './forgivenCall.ts';
import { type KeptChecks, suggestedChecks } from './suggestedChecks.ts';
import { FileProblemError, type Workspace, type WorkspacePlace } from './workspace.ts';

/** A command that the user lets models run in a folder of the project. */
interface Check {
  readonly name: string;
  /** The folder, without links. */
  readonly folder: string;
  readonly command: readonly string[];
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
  /** The suggestions that the user has taken. */
  readonly kept: KeptChecks;
  readonly groups: ProcessGroups;
}

interface CheckCallsOptions extends ChecksContext {
  readonly workspace: () => Promise<Workspace>;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly now: () => number;
}

const runCheckName = 'run_check';

/** Runs checks, one at a time. */
export function createChecks(options: CheckCallsOptions) {
  const { workspace, configuredChecks, isTrusted, toolTotal, kept } = options;
  const queue = new SerialQueue();
  const configured = async (): Promise<readonly Check[]> => {
    if (!isTrusted()) return [];
    const { folders } = await workspace();
    const sources = [await kept.read(folders), ...configuredChecks()];
    return checksOf(folders, sources, toolTotal());
  };
  /** The user may have changed it since a model was offered it. */
  const requireSame = async (check: Check): Promise<void> => {
    const now = (await configured()).find(({ name }) => name === check.name);
    // A link may lead elsewhere by now.
    const isThere = (await realpath(check.folder).catch(() => undefined)) === check.folder;
    if (isThere && isDeepStrictEqual(now, check)) return;
    throw new FileProblemError(`The check ${check.name} was changed or switched off. Go on without it.`);
  };
  const placeOf = async ({ folder }: Check, path: string): Promise<WorkspacePlace> => {
    const place = await (await workspace()).find(path);
    if (!place.isThere) throw new FileProblemError(`There is no file or folder ${place.name}.`);
    if (place.root === folder) return place;
    throw new FileProblemError(`${path} is not in ${folder}, where the check runs.`);
  };
  return {
    configured,
    requests: createCheckRequests(options, configured),
    /**
     * A check as it was offered, for which approvals hold.
     * @throws {FileProblemError} if it cannot run.
     */
    async prepare(check: Check, path: string | undefined, { characters }: CallBounds): Promise<PreparedCall> {
      const { name } = check;
      await requireSame(check);
      const place = path ? await placeOf(check, path) : undefined;
      const takesPath = check.command.includes(pathWord);
      const command = commandWith(check.command, place?.name);
      return {
        given: place === undefined || !takesPath ? { name } : { name, path: place.name || '.' },
        command,
        end: () => undefined,
        call: (signal, { onProgress } = {}) =>
          orAborted(
            queue.run('check', async () => {
              signal.throwIfAborted();
              await requireSame(check);
              const now = path ? await placeOf(check, path) : undefined;
              // Another program may have changed what it leads to since the user was asked.
              if (now?.path !== place?.path)
                throw new FileProblemError(`${path} has changed meanwhile. Try again.`);
              const how = { ...options, ...placeToRun(check, options), command, onProgress };
              const run = await runCheck(how, signal);
              const isIgnored = place !== undefined && !takesPath;
              return { ...outcomeOf(run, characters, isIgnored), check: checkOf(name, run) };
            }),
            signal,
          ),
      };
    },
  };
}

/** What a client asks about checks. */
function createCheckRequests(
  { workspace, isTrusted, kept }: CheckCallsOptions,
  configured: () => Promise<readonly Check[]>,
) {
  const suggest = async (): Promise<readonly SuggestedCheck[]> => {
    if (!isTrusted()) return [];
    const taken = (await configured()).map(({ name }) => name);
    const found = await Promise.all((await workspace()).folders.map(suggestedChecks));
    return found.flat().filter(({ name }) => !taken.includes(name));
  };
  return {
    list: async (): Promise<readonly ListedCheck[]> =>
      (await configured()).map(({ name, folder, command }) => ({ name, folder, command })),
    suggest,
    /** @throws {InvalidParamsError} if nothing suggests it any more. */
    async allow({ folder, name, hash }: Pick<SuggestedCheck, 'folder' | 'name' | 'hash'>): Promise<void> {
      const found = (await suggest()).find(
        (one) => one.folder === folder && one.name === name && one.hash === hash,
      );
      if (!found) throw new InvalidParamsError('name', 'its file has changed, or suggests no such check');
      await kept.add(found);
    },
  };
}

export type CheckRequests = ReturnType<typeof createCheckRequests>;

const ignored = '\n[This check takes no path. All of it was run.]';
const usualSeconds = 120;

/** The checks of these folders. If two folders have one of the same name, it is that of the first. */
async function checksOf(
  folders: readonly string[],
  sources: readonly Checks[],
  toolTotal: number,
): Promise<readonly Check[]> {
  const entered = await Promise.all(
    sources
      .flatMap((source) => Object.entries(source))
      .map(async ([folder, checks]) => ({ key: await folderKey(folder), checks })),
  );
  const found = new Map<string, Check>();
  for (const folder of folders) {
    const key = await folderKey(folder);
    const checks = Object.assign(
      {},
      ...entered.flatMap((entry) => (entry.key === key ? [entry.checks] : [])),
    );
    for (const [name, { command, timeout = usualSeconds, env = {} }] of Object.entries(
      checks as Checks[string],
    )) {
      const limit = Math.min(timeout * 1_000, toolTotal || Number.POSITIVE_INFINITY);
      if (!found.has(name)) found.set(name, { name, folder, command, limit, env });
    }
  }
  return [...found.values()];
}

/** The command with the path of a call, or without one. A path never reads as an option, or as a file of options. */
function commandWith(command: readonly string[], path: string | undefined): CheckCommand {
  const shown = path === undefined ? [] : [/^[\w.]/.test(path || '.') ? path || '.' : `./${path}`];
  const [program = '', ...args] = command.flatMap((word) => (word === pathWord ? shown : [word]));
  return [program, ...args];
}

type CheckCommand = readonly [program: string, ...args: readonly string[]];

/** What programs are told, so that they neither ask nor draw. */
const quiet = { CI: '1', NO_COLOR: '1', TERM: 'dumb', PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

function placeToRun({ folder, limit, env: own }: Check, { env, platform }: CheckCallsOptions) {
  return { cwd: folder, limit, env: { ...inheritedEnv(env, platform), ...quiet, ...own } };
}

/** If a check succeeds, the model gets this many lines of its end. */
const linesOfSuccess = 10;

function outcomeOf({ ended, output, ms }: CheckRun, most: number, isIgnored: boolean): CallOutcome {
  const characters = isIgnored ? most - ignored.length : most;
  const first = `${endingOf(ended)}${ended.kind === 'unstarted' ? '' : ` after ${durationOf(ms)}`}`;
  const isSuccess = ended.kind === 'exited' && ended.code === 0;
  const shown = isSuccess ? lastLines(output.text, output.lines) : output.text;
  const body = shown && `\n${withoutMiddle(shown, Math.max(0, characters - first.length - 1), output.left)}`;
  const content = `${first}${body}`;
  return {
    content: isIgnored ? content + ignored : content,
    isError: ended.kind === 'late' || ended.kind === 'unstarted',
    ...(content.includes(output.text) ? {} : { output: `${first}\n${output.text}` }),
    // How long it and its parts took differs each time.
    compared: `${endingOf(ended)}\n${output.text.replace(/\d+(?:[.,:]\d+)*/g, '0')}`,
  };
}

function checkOf(name: string, { ended, ms }: CheckRun): NonNullable<CallOutcome['check']> {
  return { name, exitCode: ended.kind === 'exited' ? ended.code : null, ms: Math.round(ms) };
}

function endingOf(ended: CheckRun['ended']): string {
  if (ended.kind === 'exited') return `exit code ${ended.code}`;
  if (ended.kind === 'killed') return `ended by ${ended.by}`;
  if (ended.kind === 'late') return 'The check took too long, and was ended';
  return `The check cannot be started: ${ended.why}. Tell the user.`;
}

function durationOf(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

function lastLines(text: string, count: number): string {
  const lines = text.split('\n');
  if (lines.length <= linesOfSuccess) return text;
  const last = lines.slice(-linesOfSuccess).join('\n');
  return `[The last ${linesOfSuccess} of ${count.toLocaleString('en-US')} lines:]\n${last}`;
}

/** Of a command in the description of the tool, in characters. */
const maxShownCommand = 40;

export type PrepareCheck = (
  check: Check | undefined,
  path: string | undefined,
  call: { readonly context: CallContext | undefined; readonly signal: AbortSignal },
) => Promise<PreparedCall>;

/** The tool that runs these checks, as it is described to a model. */
export function runCheckTool(checks: readonly Check[], prepare: PrepareCheck): McpTool {
  const names = checks.map(({ name }) => name);
  const listed = checks.map(({ name, command }) => {
    const words = command.filter((word) => word !== pathWord).join(' ');
    return `${name} (${cutText(words, maxShownCommand)})`;
  });
  const description = `Runs a check of the project and gives its exit code and output. Checks: ${listed.join(', ')}.`;
  const inputSchema = {
    type: 'object',
    properties: {
      name: { type: 'string', enum: names },
      path: { type: 'string', description: 'Only for this file or folder' },
    },
    required: ['name'],
  };
  return {
    name: runCheckName,
    title: 'Run check',
    description,
    inputSchema,
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
    fingerprint: fingerprintOf([runCheckName]),
    act: 'check',
    calls: {
      async prepare({ name, path }, signal, context) {
        const check = checks.find((each) => each.name === name);
        return prepare(check, typeof path === 'string' ? path : undefined, { context, signal });
      },
      /** A check by its name, or by its command. */
      asMeant(given) {
        const { name, ...rest } = argumentsAsMeant(runCheckName, given);
        if (typeof name !== 'string' || names.includes(name)) return { name, ...rest };
        return checkOfCommand(name, checks) ?? { name, ...rest };
      },
      meantBy(call: ToolCall) {
        const command = commandOf(call);
        return command === undefined ? undefined : checkOfCommand(command, checks);
      },
      approvalOf({ name }) {
        const check = checks.find((each) => each.name === name);
        return {
          tools: [runCheckName, `${runCheckName}/${String(name)}`],
          fingerprint: fingerprintOf([runCheckName, check]),
        };
      },
    },
  };
}

/** The check that runs this command, and the path in it. */
function checkOfCommand(text: string, checks: readonly Check[]) {
  const words = text.trim().split(/\s+/);
  for (const { name, command } of checks) {
    const at = command.indexOf(pathWord);
    const bare = command.filter((word) => word !== pathWord);
    // What only a path needs is left out with it.
    const short = at > 0 && bare.at(-1) === '--' ? bare.slice(0, -1) : bare;
    if (isDeepStrictEqual(words, bare) || isDeepStrictEqual(words, short)) return { name };
    const path = words[at];
    if (at > 0 && path !== undefined && isDeepStrictEqual(words.toSpliced(at, 1), bare))
      return { name, path };
  }
  return undefined;
}
