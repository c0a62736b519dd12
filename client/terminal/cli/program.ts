import { Insisted } from '../conversation/interrupts.ts';
import { parseCommandLine } from './commandLine.ts';
import { runCommand } from './dispatch.ts';
import { failureOf } from './failure.ts';
import { type Surroundings, writeLine, writeText } from './streams.ts';

/** The whole program but its process. Returns the exit code. */
export async function runProgram(surroundings: Surroundings, args: readonly string[]): Promise<number> {
  try {
    return await runCommand(surroundings, parseCommandLine(args));
  } catch (error) {
    if (error instanceof Insisted) return 130;
    const failure = failureOf(error);
    if (asksForJson(args))
      await writeLine(surroundings.stdout, JSON.stringify({ event: 'error', ...failure }));
    await writeText(surroundings.stderr, failure.message);
    return failure.kind === 'usage' ? 2 : 1;
  }
}

/** Also where the rest of the command line cannot be read. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).includes('--json');
}
