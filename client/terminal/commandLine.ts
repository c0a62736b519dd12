import { parseArgs } from 'node:util';
import { UsageError } from './streams.ts';

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
 * @throws {UsageError} for a flag that does not exist.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parse(args);
  const [command = 'chat', ...words] = positionals;
  const { json, help, version, server, model } = values;
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
  } catch (error) {
    throw new UsageError(
      `${error instanceof Error ? error.message.split('. ')[0] : String(error)}. "runner --help" lists the flags.`,
    );
  }
}
