import { nearestNames } from '../../../protocol/base/editDistance.ts';
import { showLine } from '../../../protocol/base/text.ts';
import {
  type AgentMode,
  agentModes,
  type ChatParams,
  maxToolRounds,
} from '../../../protocol/messages/chat.ts';
import { formerOptions, runnerOptions } from '../../../protocol/messages/modelfile.ts';
import { usageError } from './failure.ts';

/** The words for how much a thinking model thinks. Undefined leaves it to the model. */
export const thinkWords: ReadonlyMap<string, ChatParams['think']> = new Map<string, ChatParams['think']>([
  ['on', true],
  ['off', false],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['max', 'max'],
  ['auto', undefined],
]);

/** A flag of the command line. The table of flags also makes the help and the completion in a shell. */
interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: true;
  /** The placeholder for its value in the help. */
  readonly value?: string;
  /** The value that it has if none is given. Absent: it needs one. */
  readonly bare?: string;
  readonly summary: string;
  /** What a shell offers for its value: words, or files, such as those behind an `@`, or names of options. */
  readonly offers?: readonly string[] | 'files' | '@files' | 'options';
}

/** In the order of the help. */
export const flags = {
  model: {
    type: 'string',
    short: 'm',
    value: 'M',
    summary: 'the model that answers',
  },
  system: {
    type: 'string',
    value: 'TEXT|@FILE',
    summary: 'the system prompt, or the file that it is in',
    offers: '@files',
  },
  file: {
    type: 'string',
    short: 'f',
    multiple: true,
    value: 'FILE',
    summary: 'a text or a picture to send with the prompt; several are allowed',
    offers: 'files',
  },
  image: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    summary: 'a picture for a model that can see; several are allowed',
    offers: 'files',
  },
  think: {
    type: 'string',
    value: 'LEVEL',
    bare: 'on',
    summary: `how much a thinking model thinks: ${[...thinkWords.keys()].join(', ')}`,
    offers: [...thinkWords.keys()],
  },
  format: {
    type: 'string',
    value: 'json|FILE',
    summary: 'the answer is JSON, or follows the JSON Schema in the file; else the exit code is 1',
    offers: 'files',
  },
  context: { type: 'string', value: 'N', summary: 'tokens of the context window' },
  threads: { type: 'string', value: 'N', summary: 'how many threads compute' },
  option: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    summary: "an option of the runner's own, such as temperature=0.2; several are allowed",
    offers: 'options',
  },
  raw: { type: 'boolean', summary: 'passes on escape sequences as the model wrote them, in a pipe' },
  tools: {
    type: 'string',
    value: 'NAME,…',
    summary: 'the tool servers whose tools it may call, or "all"',
  },
  allow: {
    type: 'string',
    multiple: true,
    value: 'SERVER[/TOOL]',
    summary: 'tools that may be called without a question, also as a list; several are allowed',
  },
  check: {
    type: 'string',
    multiple: true,
    value: 'NAME="COMMAND"',
    summary: 'a command of this folder that it may run, such as test="npm test"; several are allowed',
  },
  mode: {
    type: 'string',
    value: 'MODE',
    summary: `what it may do with files without a question: ${agentModes.join(', ')}; without the flag, ask`,
    offers: agentModes,
  },
  rounds: {
    type: 'string',
    value: 'N',
    summary: 'how often it may call tools before it has to answer: up to 200, 40 without the flag',
  },
  'no-rules': {
    type: 'boolean',
    summary: 'leaves out the rules in AGENTS.md or CLAUDE.md, which the built-in tools bring along',
  },
  continue: { type: 'boolean', summary: 'continues the last conversation of this folder' },
  session: { type: 'string', value: 'ID', summary: 'continues this conversation' },
  resume: { type: 'boolean', summary: 'lets you search the conversations, and choose one to continue' },
  fork: {
    type: 'string',
    value: 'ID',
    summary: 'begins a new conversation with all that was said in this one',
  },
  markdown: { type: 'boolean', summary: '"show" prints Markdown' },
  all: { type: 'boolean', summary: '"rm" deletes all of them' },
  yes: { type: 'boolean', short: 'y', summary: 'deletes without a question' },
  'keep-alive': {
    type: 'string',
    value: 'D',
    summary: 'how long the model stays loaded, such as 10m; negative means forever',
  },
  cloud: { type: 'boolean', summary: 'the cloud models' },
  refresh: { type: 'boolean', summary: 'gets the newest list from the catalog' },
  'no-browser': { type: 'boolean', summary: 'shows the address of a login, and opens no browser' },
  server: {
    type: 'string',
    value: 'URL|NAME',
    summary: 'the runner, or its name in "servers"; else OLLAMA_HOST, else http://127.0.0.1:11434',
  },
  practice: { type: 'boolean', summary: 'the built-in practice runner answers, not a language model' },
  json: { type: 'boolean', summary: 'one JSON object a line on standard output' },
  help: { type: 'boolean', short: 'h', summary: 'shows the flags of a command' },
  version: { type: 'boolean', short: 'v', summary: 'shows the version' },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;

/** The flags that every command takes. */
export const commonFlags: readonly FlagName[] = ['server', 'practice', 'json', 'help', 'version'];

export function flagOf(name: FlagName): Flag {
  return flags[name];
}

export function isFlag(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}

/** Its shortest form, such as `--model M`. */
export function flagUsage(name: FlagName): string {
  const { value, bare } = flagOf(name);
  if (value === undefined) return `--${name}`;
  return bare === undefined ? `--${name} ${value}` : `--${name} [${value}]`;
}

/** The flag that a word of the command line is; undefined if it is not a flag. */
export function flagOfWord(word: string): FlagName | undefined {
  const [, long, short] = /^(?:--([^=]+)|-(.))/.exec(word) ?? [];
  if (long !== undefined) return isFlag(long) ? long : undefined;
  return short === undefined ? undefined : flagNames.find((name) => flagOf(name).short === short);
}

const flagNames = Object.keys(flags).filter(isFlag);

/** @throws {TerminalError} of the kind `usage`, as the functions below. */
export function parseThink(word: string): ChatParams['think'] {
  if (thinkWords.has(word)) return thinkWords.get(word);
  if (word === 'true' || word === 'false') return word === 'true';
  const words = [...thinkWords.keys()].join(', ');
  throw usageError(`"${showLine(word)}" is no level of thinking: it is one of ${words}.`);
}

/** Such as `8192`, or `32k`, which is 32,768. */
export function parseContext(word: string): number {
  const [, digits = '', thousands] = /^(\d{1,9})([kK])?$/.exec(word) ?? [];
  const tokens = Number(digits) * (thousands === undefined ? 1 : 1024);
  if (digits !== '' && tokens > 0) return tokens;
  throw usageError(
    `"${showLine(word)}" is no size of a context window: it is a number of tokens, such as 8192 or 32k.`,
  );
}

export function parseThreads(word: string): number {
  if (/^[1-9]\d{0,2}$/.test(word)) return Number(word);
  throw usageError(`"${showLine(word)}" is no number of threads, such as 4.`);
}

export function parseRounds(word: string): number {
  if (/^\d{1,3}$/.test(word) && Number(word) > 0 && Number(word) <= maxToolRounds) return Number(word);
  throw usageError(`"${showLine(word)}" is no number of rounds: 1 to ${maxToolRounds}.`);
}

export function parseMode(word: string): AgentMode {
  const found = agentModes.find((mode) => mode === word);
  if (found) return found;
  throw usageError(`"${showLine(word)}" is no mode: it is one of ${agentModes.join(', ')}.`);
}

/** `NAME=COMMAND`. Quotes hold words together; no shell reads them. */
export function parseCheck(text: string): readonly [name: string, command: readonly string[]] {
  const [, name, command = ''] = /^([A-Za-z0-9][\w.-]{0,31})=(.*)$/s.exec(text) ?? [];
  const words = wordsOf(command);
  if (name !== undefined && words !== undefined && words.length > 0) return [name, words];
  throw usageError(
    `"${showLine(text)}" is no check: it is a name, "=" and a command, such as test="npm test".`,
  );
}

/** The words of a command line; undefined if a quote is open. */
function wordsOf(text: string): readonly string[] | undefined {
  const words = text.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  const rest = text.replace(/(?:[^\s"']|"[^"]*"|'[^']*')+/g, '').trim();
  return rest === '' ? words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2')) : undefined;
}

/** Seconds, or a duration such as `10m`. It is only checked. */
export function parseKeepAlive(word: string): string {
  if (/^-?\d+$|^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(word)) return word;
  throw usageError(
    `"${showLine(word)}" does not say how long the model stays loaded. Give seconds, such as 600, or a time such as 30m or 1h30m; -1 means forever.`,
  );
}

/** `NAME=VALUE`. The value is a number, `true`, `false`, a JSON list or string, or else text. */
export function parseOption(text: string): readonly [name: string, value: unknown] {
  const [, name, value = ''] = /^([A-Za-z_][\w.]*)\s*=(.*)$/s.exec(text) ?? [];
  if (name !== undefined) refuseTypo(name);
  if (name !== undefined && value.trim() !== '') return [name, valueOfOption(name, value.trim())];
  throw usageError(
    `"${showLine(text)}" is no option: it is a name, "=" and a value, such as temperature=0.2.`,
  );
}

/** All options of Ollama, those of older versions too. */
export const optionNames: readonly string[] = [
  ...Object.keys(runnerOptions),
  ...formerOptions,
  ...['numa', 'tfs_z'],
];

/**
 * A runner ignores a name that it does not know, without a word. Other runners may have others, so only a typo is
 * refused.
 */
function refuseTypo(name: string): void {
  // A few letters are near to everything.
  if (optionNames.includes(name) || name.length < 4) return;
  const near = nearestNames(name, optionNames, 1)[0];
  if (near !== undefined) throw usageError(`There is no option "${showLine(name)}". Did you mean ${near}?`);
}

/** Checks the type, because the runner refuses the whole prompt if it is wrong. */
function valueOfOption(name: string, text: string): unknown {
  const value = optionValue(text);
  if (name === 'stop') return Array.isArray(value) ? value : [text];
  if (typeof value === 'number' || !isNumeric(name)) return value;
  throw usageError(`${name} must be a number, not "${showLine(text)}".`);
}

function isNumeric(name: string): boolean {
  const type: unknown = Reflect.get(runnerOptions, name);
  return type === 'int' || type === 'float';
}

function optionValue(text: string): unknown {
  if (/^(?:true|false|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)$/.test(text))
    return text === 'true' ? true : text === 'false' ? false : Number(text);
  if (!/^["[]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function thinkWordOf(think: ChatParams['think']): string {
  return [...thinkWords].find(([, value]) => value === think)?.[0] ?? 'auto';
}
