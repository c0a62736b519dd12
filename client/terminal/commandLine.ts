import { parseArgs } from 'node:util';
import { withoutUndefined } from '../../protocol/withoutUndefined.ts';
import { TerminalError } from './failure.ts';

export interface CommandLine {
  readonly command: string;
  /** Somebody typed it. */
  readonly isCommandNamed: boolean;
  /** The words after the command. */
  readonly words: readonly string[];
  readonly server?: string;
  readonly model?: string;
  /** Names of tool servers with commas between them, or `all`. */
  readonly tools?: string;
  /** `SERVER` or `SERVER/TOOL`, each to be run without a question. */
  readonly allow: readonly string[];
  /** The path of a Modelfile, or `-` for standard input. */
  readonly file?: string;
  /** Seconds, or a duration such as `10m`. */
  readonly keepAlive?: string;
  /** The id of a conversation to go on with. */
  readonly session?: string;
  /** Goes on with the last conversation of this folder. */
  readonly continue: boolean;
  readonly all: boolean;
  readonly markdown: boolean;
  readonly json: boolean;
  /** Whatever would be asked is answered with yes. */
  readonly yes: boolean;
  readonly cloud: boolean;
  /** The built-in practice runner answers. */
  readonly practice: boolean;
  readonly refresh: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

const options = {
  server: { type: 'string' },
  model: { type: 'string', short: 'm' },
  tools: { type: 'string' },
  allow: { type: 'string', multiple: true },
  file: { type: 'string', short: 'f' },
  'keep-alive': { type: 'string' },
  session: { type: 'string' },
  continue: { type: 'boolean', default: false },
  all: { type: 'boolean', default: false },
  markdown: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  yes: { type: 'boolean', short: 'y', default: false },
  cloud: { type: 'boolean', default: false },
  refresh: { type: 'boolean', default: false },
  practice: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', default: false },
} as const;

/** Flags that are followed by a value, as they are typed. */
export const valueFlags: readonly string[] = [
  '--server',
  '--model',
  '-m',
  '--tools',
  '--allow',
  '--file',
  '-f',
  '--keep-alive',
  '--session',
];

/**
 * Reads the arguments; without a command it is `chat`.
 * @throws {TerminalError} of the kind `usage`.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parse(withNegativeNumbers(args));
  const [command = 'chat', ...words] = positionals;
  const { server, model, tools, allow = [], file, session, 'keep-alive': keepAlive, ...switches } = values;
  const given = { server, model, tools, file, session, 'keep-alive': keepAlive };
  for (const [flag, value] of Object.entries(given))
    if (value?.trim() === '')
      throw new TerminalError('usage', `--${flag} is empty. Say which, or leave it out.`);
  return withoutUndefined({
    command,
    isCommandNamed: positionals.length > 0,
    words,
    ...switches,
    allow,
    server,
    model,
    tools,
    file,
    session,
    keepAlive,
  });
}

/** `--keep-alive -1`, for ever, would be read as two flags. */
function withNegativeNumbers(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args)
    if (joined.at(-1) === '--keep-alive' && /^-\d/.test(arg)) joined[joined.length - 1] += `=${arg}`;
    else joined.push(arg);
  return joined;
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (cause) {
    const [first = ''] = cause instanceof Error ? cause.message.split(/\.(?:\s|$)/) : [];
    throw new TerminalError('usage', `${first}. "runner --help" lists the flags.`, { cause });
  }
}
