import { parseArgs } from 'node:util';
import { nearestNames } from '../../../protocol/base/editDistance.ts';
import { type TerminalError, usageError } from './failure.ts';
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

/** Without a flag, its value is undefined. */
export type CommandLine = ReturnType<typeof parseCommandLine>;

/**
 * Reads the arguments. Without a command, it is `chat`.
 * @throws {TerminalError} of the kind `usage`.
 */
export function parseCommandLine(args: readonly string[]) {
  const { positionals, given } = readTokens(args);
  const [command = 'chat', ...words] = positionals;
  const all = (name: FlagName) => given.get(name) ?? [];
  const last = (name: FlagName) => all(name).at(-1);
  const parsed = <T>(name: FlagName, parse: (word: string) => T): T | undefined => {
    const word = last(name);
    return word === undefined ? undefined : parse(word);
  };
  return {
    ...switchesIn(given),
    command,
    /** Whether the user typed the command. */
    isCommandNamed: positionals.length > 0,
    /** The words after the command. */
    words,
    /** The flags that were typed. */
    given: new Set(given.keys()),
    server: last('server'),
    model: last('model'),
    /** The system prompt, or `@` and the path of a file that has it. */
    system: last('system'),
    think: parsed('think', parseThink),
    /** `json`, or the path of a JSON Schema. */
    format: last('format'),
    /** Tokens of the context window. */
    context: parsed('context', parseContext),
    /** Threads of an engine. */
    threads: parsed('threads', parseThreads),
    /** The runner's own options. */
    options: Object.fromEntries(all('option').map(parseOption)),
    /** Names of tool servers, separated by commas, or `all`. */
    tools: last('tools'),
    /** What a model may do with the built-in tools. */
    mode: parsed('mode', parseMode),
    /** Rounds of tools in one turn. */
    rounds: parsed('rounds', parseRounds),
    /** `SERVER` or `SERVER/TOOL`: tools that run without a question. */
    allow: all('allow').flatMap(listed),
    /** Commands that a model may run in this folder, by name. */
    checks: Object.fromEntries(all('check').map(parseCheck)),
    /** Paths of texts, or of a Modelfile. `-` means standard input. */
    files: all('file'),
    /** Paths of pictures. */
    images: all('image'),
    /** Seconds, or a duration such as `10m`. */
    keepAlive: parsed('keep-alive', parseKeepAlive),
    /** The id of a conversation to continue. */
    session: last('session'),
    /** The id of a conversation to begin a new one with. */
    fork: last('fork'),
  };
}

/** The flags without a value. */
function switchesIn(given: ReadonlyMap<FlagName, unknown>) {
  const is = (name: FlagName) => given.has(name);
  return {
    /** The rules in files are left out. */
    noRules: is('no-rules'),
    /** Continues the last conversation of this folder. */
    continue: is('continue'),
    /** The user chooses the conversation to continue. */
    resume: is('resume'),
    raw: is('raw'),
    all: is('all'),
    markdown: is('markdown'),
    json: is('json'),
    /** Answers every question with yes. */
    yes: is('yes'),
    cloud: is('cloud'),
    /** The built-in practice runner answers. */
    practice: is('practice'),
    /** A login only shows its address, and opens no browser. */
    noBrowser: is('no-browser'),
    refresh: is('refresh'),
    help: is('help'),
    version: is('version'),
  };
}

function listed(words: string): readonly string[] {
  return words
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** The words, and the values of each flag that was typed. A switch has none. */
function readTokens(args: readonly string[]) {
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
    if (value !== undefined) throw usageError(`--${name} takes no value.`);
    return [];
  }
  if (value === undefined) throw usageError(`--${name} needs a value: ${usage}`);
  if (value.trim() === '') throw usageError(`--${name} is empty. Say which, or leave it out.`);
  if (!isInline && /^-\D/.test(value))
    throw usageError(
      `--${name} needs a value, and "${value}" is a flag. If that is the value: --${name}=${value}`,
    );
  return [value];
}

function unknownFlag(rawName: string): TerminalError {
  const long = /^--(.+)/.exec(rawName)?.[1];
  const near = long === undefined ? undefined : nearestNames(long, Object.keys(flags), 1)[0];
  const hint = near === undefined ? '' : ` Did you mean --${near}?`;
  return usageError(`There is no flag ${rawName}.${hint} "runner --help" lists the flags.`);
}
