import { parseArgs } from 'node:util';
import { nearestNames } from '../../../protocol/base/editDistance.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { AgentMode, ChatParams } from '../../../protocol/messages/chat.ts';
import { TerminalError } from './failure.ts';
import {
  type FlagName,
  flagOf,
  flags,
  flagUsage,
  isFlag,
  parseCheck,
  parseContext,
  parseKeepAlive,
  parseMode,
  parseOption,
  parseRounds,
  parseThink,
  parseThreads,
  thinkWords,
} from './flags.ts';

export interface CommandLine {
  readonly command: string;
  /** Whether the user typed the command. */
  readonly isCommandNamed: boolean;
  /** The words after the command. */
  readonly words: readonly string[];
  /** The flags that were typed. */
  readonly given: ReadonlySet<FlagName>;
  readonly server?: string;
  readonly model?: string;
  /** The system prompt, or `@` and the path of a file that has it. */
  readonly system?: string;
  readonly think?: ChatParams['think'];
  /** `json`, or the path of a JSON Schema. */
  readonly format?: string;
  /** Tokens of the context window. */
  readonly context?: number;
  /** Threads of an engine. */
  readonly threads?: number;
  /** The runner's own options. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Names of tool servers, separated by commas, or `all`. */
  readonly tools?: string;
  /** What a model may do with the built-in tools. */
  readonly mode?: AgentMode;
  /** Rounds of tools in one turn. */
  readonly rounds?: number;
  /** `SERVER` or `SERVER/TOOL`: tools that run without a question. */
  readonly allow: readonly string[];
  /** Commands that a model may run in this folder, by name. */
  readonly checks: Readonly<Record<string, readonly string[]>>;
  /** The rules in files are left out. */
  readonly noRules: boolean;
  /** Paths of texts, or of a Modelfile. `-` means standard input. */
  readonly files: readonly string[];
  /** Paths of pictures. */
  readonly images: readonly string[];
  /** Seconds, or a duration such as `10m`. */
  readonly keepAlive?: string;
  /** The id of a conversation to continue. */
  readonly session?: string;
  /** Continues the last conversation of this folder. */
  readonly continue: boolean;
  /** The id of a conversation to begin a new one with. */
  readonly fork?: string;
  /** The user chooses the conversation to continue. */
  readonly resume: boolean;
  readonly raw: boolean;
  readonly all: boolean;
  readonly markdown: boolean;
  readonly json: boolean;
  /** Answers every question with yes. */
  readonly yes: boolean;
  readonly cloud: boolean;
  /** The built-in practice runner answers. */
  readonly practice: boolean;
  /** A login only shows its address, and opens no browser. */
  readonly noBrowser: boolean;
  readonly refresh: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/**
 * Reads the arguments. Without a command, it is `chat`.
 * @throws {TerminalError} of the kind `usage`.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { positionals, given } = readTokens(args);
  const [command = 'chat', ...words] = positionals;
  const all = (name: FlagName) => given.get(name) ?? [];
  const last = (name: FlagName) => all(name).at(-1);
  const is = (name: FlagName) => given.has(name);
  const parsed = <T>(name: FlagName, parse: (word: string) => T): T | undefined => {
    const word = last(name);
    return word === undefined ? undefined : parse(word);
  };
  return withoutUndefined({
    command,
    isCommandNamed: positionals.length > 0,
    words,
    given: new Set(given.keys()),
    server: last('server'),
    model: last('model'),
    system: last('system'),
    think: parsed('think', parseThink),
    format: last('format'),
    context: parsed('context', parseContext),
    threads: parsed('threads', parseThreads),
    options: Object.fromEntries(all('option').map(parseOption)),
    tools: last('tools'),
    mode: parsed('mode', parseMode),
    rounds: parsed('rounds', parseRounds),
    allow: all('allow').flatMap(listed),
    checks: Object.fromEntries(all('check').map(parseCheck)),
    noRules: is('no-rules'),
    files: all('file'),
    images: all('image'),
    keepAlive: parsed('keep-alive', parseKeepAlive),
    session: last('session'),
    continue: is('continue'),
    fork: last('fork'),
    resume: is('resume'),
    raw: is('raw'),
    all: is('all'),
    markdown: is('markdown'),
    json: is('json'),
    yes: is('yes'),
    cloud: is('cloud'),
    practice: is('practice'),
    noBrowser: is('no-browser'),
    refresh: is('refresh'),
    help: is('help'),
    version: is('version'),
  });
}

function listed(words: string): readonly string[] {
  return words
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

interface ReadTokens {
  readonly positionals: readonly string[];
  /** The values of each flag that was typed. A switch has none. */
  readonly given: ReadonlyMap<FlagName, readonly string[]>;
}

function readTokens(args: readonly string[]): ReadTokens {
  const parsed = { args: withBareValues(args), options: flags, allowPositionals: true } as const;
  const { tokens, positionals } = parseArgs({ ...parsed, strict: false, tokens: true });
  const given = new Map<FlagName, readonly string[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue = false } = token;
    if (!isFlag(name)) throw unknownFlag(rawName);
    given.set(name, [...(given.get(name) ?? []), ...valuesOf(name, value, inlineValue)]);
  }
  return { positionals, given };
}

/** Gives a bare `--think` its value, unless one of its own words follows. */
function withBareValues(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (arg !== '--think' || args.slice(0, index).includes('--')) return [arg];
    return thinkWords.has(args[index + 1] ?? '') ? [arg] : [`--think=${flags.think.bare}`];
  });
}

function valuesOf(name: FlagName, value: string | undefined, isInline: boolean): readonly string[] {
  const usage = flagUsage(name);
  if (flagOf(name).type === 'boolean') {
    if (value !== undefined) throw new TerminalError('usage', `--${name} takes no value.`);
    return [];
  }
  if (value === undefined) throw new TerminalError('usage', `--${name} needs a value: ${usage}`);
  if (value.trim() === '')
    throw new TerminalError('usage', `--${name} is empty. Say which, or leave it out.`);
  if (!isInline && /^-\D/.test(value))
    throw new TerminalError(
      'usage',
      `--${name} needs a value, and "${value}" is a flag. If that is the value: --${name}=${value}`,
    );
  return [value];
}

function unknownFlag(rawName: string): TerminalError {
  const long = /^--(.+)/.exec(rawName)?.[1];
  const near = long === undefined ? undefined : nearestNames(long, Object.keys(flags), 1)[0];
  const hint = near === undefined ? '' : ` Did you mean --${near}?`;
  return new TerminalError('usage', `There is no flag ${rawName}.${hint} "runner --help" lists the flags.`);
}
