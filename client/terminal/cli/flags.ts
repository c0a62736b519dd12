import { thinkWords } from '../conversation/thinkWords.ts';

/** A flag of the command line; this table drives reading it, the help and the completion in a shell. */
interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: true;
  /** What stands for its value in the help. */
  readonly value?: string;
  /** What it means without a value, where it may come without. */
  readonly bare?: string;
  readonly summary: string;
  /** What a shell may offer for its value. */
  readonly offers?: 'models' | 'sessions' | 'files' | readonly string[];
}

/** In the order in which the help lists them. */
export const flags = {
  model: {
    type: 'string',
    short: 'm',
    value: 'M',
    summary: 'the model that answers',
    offers: 'models',
  },
  system: { type: 'string', value: 'TEXT|@FILE', summary: 'the system prompt, or the file that it is in' },
  file: {
    type: 'string',
    short: 'f',
    multiple: true,
    value: 'FILE',
    summary: 'a text that goes along with the prompt; several are allowed',
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
  context: { type: 'string', value: 'N', summary: 'tokens of the context window' },
  option: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    summary: "an option of the runner's own, such as temperature=0.2; several are allowed",
  },
  raw: { type: 'boolean', summary: 'passes on escape sequences as the model wrote them, in a pipe' },
  tools: { type: 'string', value: 'NAME,…', summary: 'the tool servers whose tools it may call, or "all"' },
  allow: {
    type: 'string',
    multiple: true,
    value: 'SERVER[/TOOL]',
    summary: 'tools that may be called without a question; several are allowed',
  },
  continue: { type: 'boolean', summary: 'goes on with the last conversation of this folder' },
  session: { type: 'string', value: 'ID', summary: 'goes on with this conversation', offers: 'sessions' },
  markdown: { type: 'boolean', summary: '"show" prints Markdown' },
  all: { type: 'boolean', summary: '"rm" deletes all of them' },
  yes: { type: 'boolean', short: 'y', summary: 'deletes without a question' },
  'keep-alive': {
    type: 'string',
    value: 'D',
    summary: 'how long the model stays loaded, such as 10m; negative means forever',
  },
  cloud: { type: 'boolean', summary: 'the cloud models' },
  refresh: { type: 'boolean', summary: 'asks the catalog, whatever is known' },
  'no-browser': { type: 'boolean', summary: 'shows the address of a login, and opens no browser' },
  server: {
    type: 'string',
    value: 'URL',
    summary: 'the runner to talk to; else OLLAMA_HOST, else http://127.0.0.1:11434',
  },
  practice: { type: 'boolean', summary: 'the built-in practice runner answers, which is no language model' },
  json: { type: 'boolean', summary: 'one JSON object a line on standard output' },
  help: { type: 'boolean', short: 'h', summary: 'shows the flags of a command' },
  version: { type: 'boolean', short: 'v', summary: 'shows the version' },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;

/** What every command takes. */
export const commonFlags: readonly FlagName[] = ['server', 'practice', 'json', 'help', 'version'];

export function flagOf(name: FlagName): Flag {
  return flags[name];
}

export function isFlag(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}

/** As it is typed at the least, such as `--model M`. */
export function flagUsage(name: FlagName): string {
  const { value, bare } = flagOf(name);
  if (value === undefined) return `--${name}`;
  return bare === undefined ? `--${name} ${value}` : `--${name} [${value}]`;
}

/** The flag that a word of the command line stands for; undefined where it is none. */
export function flagOfWord(word: string): FlagName | undefined {
  const [, long, short] = /^(?:--([^=]+)|-(.))/.exec(word) ?? [];
  if (long !== undefined) return isFlag(long) ? long : undefined;
  return short === undefined ? undefined : flagNames.find((name) => flagOf(name).short === short);
}

const flagNames = Object.keys(flags).filter(isFlag);
