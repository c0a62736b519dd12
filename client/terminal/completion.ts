import { listModelsRequest } from '../../protocol/models.ts';
import { listSessionsRequest } from '../../protocol/sessions.ts';
import { type Command, type Commands, listedCommands, type Offered } from './command.ts';
import type { CommandLine } from './commandLine.ts';
import { parseCommandLine, valueFlags } from './commandLine.ts';
import { completionScripts } from './completionScripts.ts';
import { withDaemon } from './connection.ts';
import { TerminalError } from './failure.ts';
import { type Surroundings, write, writeLine } from './streams.ts';

/** Those that there is a script for. */
export const shells: readonly string[] = [...completionScripts.keys()];

const commonFlags = ['--server', '--json', '--help'];

/** Who presses Tab does not wait for a runner that is slow, in ms. */
const timeouts = { connect: 500, list: 1_500 };

/** @throws {TerminalError} of the kind `usage` for a shell that there is no script for. */
export async function printCompletion(
  { stdout }: Surroundings,
  { words: [shell = ''] }: CommandLine,
): Promise<number> {
  const script = completionScripts.get(shell);
  if (script === undefined)
    throw new TerminalError('usage', `There is no completion for "${shell}", only for ${shells.join(', ')}.`);
  await write(stdout, script);
  return 0;
}

/** What may stand in the place of the last of the words that follow the program's name, one a line. */
export async function printCandidates(
  surroundings: Surroundings,
  commands: Commands,
  words: readonly string[],
): Promise<number> {
  const [current = ''] = words.slice(-1);
  const offered = offersFor(commands, words.slice(0, -1), current);
  const candidates = typeof offered === 'string' ? await namesOf[offered](surroundings, words) : offered;
  for (const candidate of candidates)
    if (candidate.startsWith(current)) await writeLine(surroundings.stdout, candidate);
  return 0;
}

/** By what stands before; `models` are the names of what is installed. */
function offersFor(commands: Commands, before: readonly string[], current: string): Offered {
  const last = before.at(-1) ?? '';
  if (before.includes('--')) return [];
  if (last === '--model' || last === '-m') return 'models';
  if (last === '--session') return 'sessions';
  if (valueFlags.includes(last)) return [];
  const [name, ...words] = positionalsOf(before);
  const command = name === undefined ? undefined : commands.get(name);
  if (current.startsWith('-')) return [...(command?.flags ?? []), ...commonFlags];
  if (name === undefined) return listedCommands(commands).map(([listed]) => listed);
  return offersOf(command, words.length);
}

/** For the word behind so many others. */
function offersOf(command: Command | undefined, count: number): Offered {
  const { most = 0, offers = [], further = offers } = command?.words ?? {};
  if (count >= most) return [];
  return count === 0 ? offers : further;
}

function positionalsOf(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) => word !== '' && !word.startsWith('-') && !valueFlags.includes(words[index - 1] ?? ''),
  );
}

/** Silently nothing where there is no runner: this is in the middle of somebody's typing. */
async function namesOfModels(
  surroundings: Surroundings,
  words: readonly string[],
): Promise<readonly string[]> {
  try {
    const commandLine = parseCommandLine(serverFlagOf(words.slice(0, -1)));
    return await withDaemon(surroundings, { commandLine, timeouts }, async (daemon) => {
      const { models } = await daemon.request(listModelsRequest, {});
      return models.map(({ name }) => name).filter(isPlain);
    });
  } catch {
    return [];
  }
}

/** The same for conversations; no runner is asked for them. */
async function idsOfSessions(surroundings: Surroundings): Promise<readonly string[]> {
  try {
    return await withDaemon(surroundings, { commandLine: parseCommandLine([]) }, async (daemon) => {
      const { sessions } = await daemon.request(listSessionsRequest, {});
      return sessions.map(({ id }) => id).filter(isPlain);
    });
  } catch {
    return [];
  }
}

const namesOf = { models: namesOfModels, sessions: idsOfSessions };

/** The runner that these words name, as they do it. */
function serverFlagOf(words: readonly string[]): readonly string[] {
  const at = words.findLastIndex((word) => word === '--server' || word.startsWith('--server='));
  if (at < 0) return [];
  return words[at] === '--server' ? words.slice(at, at + 2) : words.slice(at, at + 1);
}

/** Whether a shell reads it as one word: what a runner names so would be typed into a command line. */
function isPlain(name: string): boolean {
  return /^[\w.][\w./:@-]*$/.test(name);
}
