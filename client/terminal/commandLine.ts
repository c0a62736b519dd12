import { parseArgs } from 'node:util';
import { TerminalError } from './failure.ts';

export interface CommandLine {
  readonly command: string;
  /** The words after the command. */
  readonly words: readonly string[];
  readonly server?: string;
  readonly model?: string;
  readonly json: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/**
 * Reads the arguments; without a command it is `chat`.
 * @throws {TerminalError} of the kind `usage`.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parse(args);
  const [command = 'chat', ...words] = positionals;
  const { json, help, version, server, model } = values;
  for (const [flag, value] of Object.entries({ server, model }))
    if (value?.trim() === '')
      throw new TerminalError('usage', `--${flag} is empty. Say which, or leave it out.`);
  return {
    command,
    words,
    json,
    help,
    version,
    ...(server === undefined ? {} : { server }),
    ...(model === undefined ? {} : { model }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        server: { type: 'string' },
        model: { type: 'string', short: 'm' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', default: false },
      },
    });
  } catch (cause) {
    const [first = ''] = cause instanceof Error ? cause.message.split(/\.(?:\s|$)/) : [];
    throw new TerminalError('usage', `${first}. "runner --help" lists the flags.`, { cause });
  }
}
