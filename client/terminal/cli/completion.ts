import { formatBytes } from '../../../protocol/base/bytes.ts';
import { listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import { listSessionsRequest } from '../../../protocol/messages/sessions.ts';
import { describeCapabilities } from '../commands/modelDescription.ts';
import { describeSession } from '../conversation/keptConversation.ts';
import { withDaemon } from '../daemon/connection.ts';
import { showLine } from '../screen/controlCharacters.ts';
import {
  type Command,
  type Commands,
  findCommand,
  flagsOf,
  listedCommands,
  type Offered,
} from './command.ts';
import type { CommandLine } from './commandLine.ts';
import { parseCommandLine } from './commandLine.ts';
import { completionScripts } from './completionScripts.ts';
import { TerminalError } from './failure.ts';
import { type FlagName, flagOf, flagOfWord } from './flags.ts';
import { type Surroundings, write, writeLine } from './streams.ts';

/** Those that there is a script for. */
export const shells: readonly string[] = [...completionScripts.keys()];

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

/** What may stand in the place of the last of the words, one a line: the word, a tab, and what it means. */
export async function printCandidates(
  surroundings: Surroundings,
  commands: Commands,
  words: readonly string[],
): Promise<number> {
  const [current = ''] = words.slice(-1);
  const offered = offersFor(commands, words.slice(0, -1), current);
  const candidates = typeof offered === 'string' ? await namesOf[offered](surroundings, words) : offered;
  for (const [candidate, meaning] of candidates)
    if (candidate.startsWith(current))
      await writeLine(
        surroundings.stdout,
        showLine(candidate) + (meaning === '' ? '' : `\t${showLine(meaning)}`),
      );
  return 0;
}

/** A word, and what it means where that is known. */
type Candidate = readonly [word: string, meaning: string];

/** By what stands before; `models` are the names of what is installed. */
function offersFor(
  commands: Commands,
  before: readonly string[],
  current: string,
): 'models' | 'sessions' | readonly Candidate[] {
  if (before.includes('--')) return [];
  const flag = valueFlagOf(before.at(-1) ?? '');
  // Files are left to the shell.
  const value = flag === undefined ? undefined : (flagOf(flag).offers ?? []);
  if (value !== undefined) return value === 'files' ? [] : candidatesOf(value);
  const [word, ...words] = positionalsOf(before);
  const command = findCommand(commands, word ?? 'chat')?.command;
  if (current.startsWith('-'))
    return command ? [...flagsOf(command)].map(([name, summary]) => [`--${name}`, summary]) : [];
  if (word === undefined) return listedCommands(commands).map(([name, { summary }]) => [name, summary]);
  return candidatesOf(offersOf(command, words.length));
}

function candidatesOf(offered: Offered): 'models' | 'sessions' | readonly Candidate[] {
  return typeof offered === 'string' ? offered : offered.map((word) => [word, '']);
}

/** The flag that a word is, where a value follows it. */
function valueFlagOf(word: string): FlagName | undefined {
  const flag = word.includes('=') ? undefined : flagOfWord(word);
  if (flag === undefined) return undefined;
  const { value, bare } = flagOf(flag);
  return value === undefined || bare !== undefined ? undefined : flag;
}

/** For the word behind so many others. */
function offersOf(command: Command | undefined, count: number): Offered {
  const { most = 0, offers = [], further = offers } = command?.words ?? {};
  if (count >= most) return [];
  return count === 0 ? offers : further;
}

function positionalsOf(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) =>
      word !== '' && !word.startsWith('-') && valueFlagOf(words[index - 1] ?? '') === undefined,
  );
}

/** Silently nothing where there is no runner: this is in the middle of somebody's typing. */
async function namesOfModels(
  surroundings: Surroundings,
  words: readonly string[],
): Promise<readonly Candidate[]> {
  try {
    const commandLine = parseCommandLine(serverFlagOf(words.slice(0, -1)));
    return await withDaemon(surroundings, { commandLine, timeouts }, async (daemon) => {
      const { models } = await daemon.request(listModelsRequest, {});
      return models.filter(({ name }) => isPlain(name)).map((model) => [model.name, describeBriefly(model)]);
    });
  } catch {
    return [];
  }
}

function describeBriefly(model: Model): string {
  const { size, remote } = model;
  const facts = [
    remote ? 'remote' : size === undefined ? '' : formatBytes(size),
    describeCapabilities(model),
  ];
  return facts.filter((fact) => fact !== '').join(', ');
}

/** The same for conversations; no runner is asked for them. */
async function idsOfSessions(surroundings: Surroundings): Promise<readonly Candidate[]> {
  try {
    return await withDaemon(surroundings, { commandLine: parseCommandLine([]) }, async (daemon) => {
      const { sessions } = await daemon.request(listSessionsRequest, {});
      return sessions
        .filter(({ id }) => isPlain(id))
        .map((session) => [session.id, describeSession(session)]);
    });
  } catch {
    return [];
  }
}

const namesOf = { models: namesOfModels, sessions: idsOfSessions };

/** The runner that these words name, as they do it. */
function serverFlagOf(words: readonly string[]): readonly string[] {
  const at = words.findLastIndex((word) => word === '--server' || word.startsWith('--server='));
  if (at < 0) return words.includes('--practice') ? ['--practice'] : [];
  return words[at] === '--server' ? words.slice(at, at + 2) : words.slice(at, at + 1);
}

/** Whether a shell reads it as one word: what a runner names so would be typed into a command line. */
function isPlain(name: string): boolean {
  return /^[\w.][\w./:@-]*$/.test(name);
}
