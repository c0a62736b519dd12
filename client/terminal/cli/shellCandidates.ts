import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { isRecord } from '../../../protocol/base/json.ts';
import { cacheFolder } from '../../../protocol/base/userFolders.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import { canChat, libraryRequest, listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import { listSessionsRequest } from '../../../protocol/messages/sessions.ts';
import { listSettingsRequest } from '../../../protocol/messages/settings.ts';
import { describeSession } from '../conversation/keptConversation.ts';
import { completePath } from '../conversation/slashCompletion.ts';
import { docsServer } from '../conversation/toolChoice.ts';
import { withDaemon } from '../daemon/connection.ts';
import { describeCapabilities } from '../screen/modelDescription.ts';
import {
  type Command,
  type CommandContext,
  type Commands,
  findCommand,
  flagsOf,
  listedCommands,
} from './command.ts';
import { parseCommandLine } from './commandLine.ts';
import { type FlagName, flagOf, flagOfWord, type KnownNames, type Offered, optionNames } from './flags.ts';

/** Nobody who presses Tab waits for a slow runner. In ms. */
const timeouts = { connect: 500, list: 1_500 };

/** Prints the candidates for the last of the words, one a line: the word, a tab, and what it means. */
export async function printCandidates(context: CommandContext, commands: Commands): Promise<number> {
  const { stdout } = context.terminal;
  const { words } = context.commandLine;
  const [last = ''] = words.slice(-1);
  const current = last === '""' ? '' : last;
  const before = words.slice(0, -1);
  // The value may stand in the same word as its flag.
  const [, flag = '', typed = current] = /^(--[^=]+=)(.*)$/s.exec(current) ?? [];
  const offered = flag === '' ? offersFor(commands, before, typed) : valuesOf(before, flag);
  // Nothing if there is no runner: an error would disturb what the user types.
  const candidates =
    typeof offered === 'string' ? await namesOf[offered](context, typed).catch(() => []) : offered;
  for (const [candidate, meaning] of candidates)
    if (candidate.startsWith(typed))
      await stdout.writeLine(showLine(flag + candidate) + (meaning === '' ? '' : `\t${showLine(meaning)}`));
  return 0;
}

/** A word, and what it means or `''`. */
type Candidate = readonly [word: string, meaning: string];

/** What can follow the words before. */
function offersFor(
  commands: Commands,
  before: readonly string[],
  current: string,
): KnownNames | readonly Candidate[] {
  if (before.includes('--')) return [];
  const [last = ''] = before.slice(-1);
  if (valueFlagOf(last) !== undefined) return valuesOf(before, last);
  const [word, ...words] = positionalsOf(before);
  const command = findCommand(commands, word ?? 'chat')?.command;
  if (current.startsWith('-'))
    return command ? [...flagsOf(command)].map(([name, summary]) => [`--${name}`, summary]) : [];
  if (word === undefined) return listedCommands(commands).map(([name, { summary }]) => [name, summary]);
  return candidatesOf(offersOf(command, words.length));
}

/** What the value of a flag can be. */
function valuesOf(before: readonly string[], word: string): KnownNames | readonly Candidate[] {
  const flag = before.includes('--') ? undefined : flagOfWord(word);
  const offers = flag === undefined ? [] : (flagOf(flag).offers ?? []);
  // Files are left to the shell.
  return offers === 'files' ? [] : candidatesOf(offers);
}

function candidatesOf(offered: Offered): KnownNames | readonly Candidate[] {
  return typeof offered === 'string' ? offered : offered.map((word) => [word, '']);
}

/** The flag that a word is, if its value is the next word. */
function valueFlagOf(word: string): FlagName | undefined {
  const flag = word.includes('=') ? undefined : flagOfWord(word);
  if (flag === undefined) return undefined;
  const { value, bare } = flagOf(flag);
  return value === undefined || bare !== undefined ? undefined : flag;
}

/** What a command offers for the word after `count` others. */
function offersOf(command: Command | undefined, count: number): Offered {
  const { max = 0, offers = [], further = offers } = command?.words ?? {};
  if (count >= max) return [];
  return count === 0 ? offers : further;
}

function positionalsOf(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) =>
      word !== '' && !word.startsWith('-') && valueFlagOf(words[index - 1] ?? '') === undefined,
  );
}

async function namesOfModels(
  context: CommandContext,
  isOffered: (model: Model) => boolean = () => true,
): Promise<readonly Candidate[]> {
  return withDaemon(toRunner(context), { timeouts }, async (daemon) => {
    const { models } = await daemon.request(listModelsRequest, { everywhere: true });
    return models
      .filter((model) => isPlain(model.name) && isOffered(model))
      .map((model) => [model.name, describeBriefly(model)]);
  });
}

function describeBriefly(model: Model): string {
  const { size, remote } = model;
  const facts = [
    remote ? 'remote' : size === undefined ? '' : formatBytes(size),
    describeCapabilities(model),
  ];
  return facts.filter((fact) => fact !== '').join(', ');
}

/** The models of the list that `runner library` got last; no catalog is asked. Behind a colon, their sizes. */
async function namesOfLibrary(context: CommandContext, typed: string): Promise<readonly Candidate[]> {
  const cacheDir = cacheFolder(context.terminal.env);
  const options = withoutUndefined<InitializationOptions>({ timeouts, cacheDir });
  return withDaemon(toRunner(context), options, async (daemon) => {
    const { entries } = await daemon.request(libraryRequest, { cached: true });
    return entries
      .flatMap(({ model, description = '', sizes = [] }): Candidate[] =>
        typed.startsWith(`${model}:`)
          ? sizes.map((size) => [`${model}:${size}`, ''])
          : [[model, description]],
      )
      .filter(([name]) => isPlain(name));
  });
}

/** For conversations, no runner is asked. */
async function idsOfSessions(context: CommandContext): Promise<readonly Candidate[]> {
  return withDaemon(toNobody(context), {}, async (daemon) => {
    const { sessions } = await daemon.request(listSessionsRequest, {});
    return sessions.filter(({ id }) => isPlain(id)).map((session) => [session.id, describeSession(session)]);
  });
}

/** The tool servers of the user's configuration, of which none is started. */
async function namesOfTools(context: CommandContext): Promise<readonly Candidate[]> {
  const own = await withDaemon(toNobody(context), {}, async ({ toolServers }) => toolServers);
  const docs = context.program.documents === undefined ? [] : [docsServer];
  return [...new Set([...docs, ...own])].filter(isPlain).map((name) => [name, '']);
}

/** The runners that the user's configuration names; none is asked. */
async function namesOfServers(context: CommandContext): Promise<readonly Candidate[]> {
  return withDaemon(toNobody(context), {}, async (daemon) => {
    const { settings } = await daemon.request(listSettingsRequest, {});
    const servers = settings.find(({ name }) => name === 'servers')?.value;
    return (Array.isArray(servers) ? servers.filter(isRecord) : [])
      .map(({ name, url }): Candidate => [String(name), String(url ?? '')])
      .filter(([name]) => isPlain(name));
  });
}

/** A file behind an `@`, which a shell does not complete. */
async function filesBehindAt({ terminal }: CommandContext, typed: string): Promise<readonly Candidate[]> {
  if (!typed.startsWith('@')) return [];
  const { candidates } = await completePath(typed.slice(1), terminal.cwd, (path) => path);
  return candidates.filter((path) => isPlain(path.replace(/^\//, ''))).map((path) => [`@${path}`, '']);
}

/** A shell would put a space behind a name that is there already, as if its value were, too. */
async function namesOfOptions(_: CommandContext, typed: string): Promise<readonly Candidate[]> {
  return optionNames.filter((name) => typed !== `${name}=`).map((name) => [`${name}=`, '']);
}

type ListNames = (context: CommandContext, typed: string) => Promise<readonly Candidate[]>;

const namesOf: Readonly<Record<KnownNames, ListNames>> = {
  library: namesOfLibrary,
  models: (context) => namesOfModels(context),
  chatModels: (context) => namesOfModels(context, canChat),
  sessions: idsOfSessions,
  tools: namesOfTools,
  servers: namesOfServers,
  options: namesOfOptions,
  '@files': filesBehindAt,
};

/** With the runner that the words so far name. */
function toRunner(context: CommandContext): CommandContext {
  const words = context.commandLine.words.slice(0, -1);
  return { ...context, commandLine: parseCommandLine(serverFlagOf(words)) };
}

function toNobody(context: CommandContext): CommandContext {
  return { ...context, commandLine: parseCommandLine([]) };
}

/** The flags among these words that name the runner. */
function serverFlagOf(words: readonly string[]): readonly string[] {
  const at = words.findLastIndex((word) => word === '--server' || word.startsWith('--server='));
  if (at < 0) return words.includes('--practice') ? ['--practice'] : [];
  return words[at] === '--server' ? words.slice(at, at + 2) : words.slice(at, at + 1);
}

/** Whether a shell reads the name as one word, because it is inserted into a command line as it is. */
function isPlain(name: string): boolean {
  return /^[\w.][\w./:@-]*$/.test(name);
}
