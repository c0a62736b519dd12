import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { completePath } from '../conversation/slashCompletion.ts';
import {
  type CommandContext,
  findCommand,
  flagsOf,
  listedCommands,
  type TerminalCommand,
  type TerminalCommands,
} from './command.ts';
import { type FlagName, flagOf, flagOfWord, optionNames } from './flags.ts';

/**
 * Prints the candidates for the last of the words, one a line: the word, a tab, and what it means. They are known
 * without a daemon: nobody who presses Tab waits for one.
 */
export async function printCandidates(context: CommandContext, commands: TerminalCommands): Promise<number> {
  const { stdout, cwd } = context.terminal;
  const { words } = context.commandLine;
  const [last = ''] = words.slice(-1);
  const current = last === '""' ? '' : last;
  const before = words.slice(0, -1);
  // The value may stand in the same word as its flag.
  const [, flag = '', typed = current] = /^(--[^=]+=)(.*)$/s.exec(current) ?? [];
  const offered = flag === '' ? offersFor(commands, before, typed) : valuesOf(before, flag, typed);
  // An error would disturb what the user types.
  const candidates = offered === '@files' ? await filesBehindAt(cwd, typed).catch(() => []) : offered;
  for (const [candidate, meaning] of candidates)
    if (candidate.startsWith(typed))
      await stdout.writeLine(showLine(flag + candidate) + (meaning === '' ? '' : `\t${showLine(meaning)}`));
  return 0;
}

/** A word, and what it means or `''`. */
type Candidate = readonly [word: string, meaning: string];

/** What can follow the words before. */
function offersFor(
  commands: TerminalCommands,
  before: readonly string[],
  current: string,
): '@files' | readonly Candidate[] {
  if (before.includes('--')) return [];
  const [last = ''] = before.slice(-1);
  if (valueFlagOf(last) !== undefined) return valuesOf(before, last, current);
  const [word, ...words] = positionalsOf(before);
  const command = findCommand(commands, word ?? 'chat')?.command;
  if (current.startsWith('-'))
    return command ? [...flagsOf(command)].map(([name, summary]) => [`--${name}`, summary]) : [];
  if (word === undefined) return listedCommands(commands).map(([name, { summary }]) => [name, summary]);
  return offersOf(command, words.length).map((offer) => [offer, '']);
}

/** What the value of a flag can be. */
function valuesOf(before: readonly string[], word: string, typed: string): '@files' | readonly Candidate[] {
  const flag = before.includes('--') ? undefined : flagOfWord(word);
  const offers = flag === undefined ? [] : (flagOf(flag).offers ?? []);
  if (offers === '@files') return offers;
  // A shell would put a space behind a name that is there already, as if its value were, too.
  if (offers === 'options')
    return optionNames.filter((name) => typed !== `${name}=`).map((name) => [`${name}=`, '']);
  // Files are left to the shell.
  return offers === 'files' ? [] : offers.map((offer) => [offer, '']);
}

/** The flag that a word is, if its value is the next word. */
function valueFlagOf(word: string): FlagName | undefined {
  const flag = word.includes('=') ? undefined : flagOfWord(word);
  if (flag === undefined) return undefined;
  const { value, bare } = flagOf(flag);
  return value === undefined || bare !== undefined ? undefined : flag;
}

/** What a command offers for the word after `count` others. */
function offersOf(command: TerminalCommand | undefined, count: number): readonly string[] {
  return count === 0 ? (command?.words?.offers ?? []) : [];
}

function positionalsOf(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) =>
      word !== '' && !word.startsWith('-') && valueFlagOf(words[index - 1] ?? '') === undefined,
  );
}

/** A file behind an `@`, which a shell does not complete. */
async function filesBehindAt(cwd: string, typed: string): Promise<readonly Candidate[]> {
  if (!typed.startsWith('@')) return [];
  const { candidates } = await completePath(typed.slice(1), cwd, (path) => path);
  return candidates.filter((path) => isPlain(path.replace(/^\//, ''))).map((path) => [`@${path}`, '']);
}

/** Whether a shell reads the name as one word, because it is inserted into a command line as it is. */
function isPlain(name: string): boolean {
  return /^[\w.][\w./:@-]*$/.test(name);
}
