import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { expandPath } from '../../../protocol/base/platform/folders.ts';
import type { Prompt } from '../../../protocol/messages/prompts.ts';
import type { ConversationOffers } from './conversationOffers.ts';
import { type SlashOffers, slashOffers, usablePrompts } from './slashCommands.ts';

/** What Tab may put in place of the end of a line, and that end. */
export interface SlashCompletion {
  readonly candidates: readonly string[];
  readonly completed: string;
}

/** What Tab offers comes from it. */
type CompletionState = Omit<ConversationOffers, 'daemon' | 'model' | 'terminal'>;

const none: SlashCompletion = { candidates: [], completed: '' };

/** How many files are offered at most. */
const maxFiles = 200;

/** Completes a slash command, or the name of a file after `@`; undefined if the line ends in neither. */
export async function completeLine(
  line: string,
  state: CompletionState,
): Promise<SlashCompletion | undefined> {
  return (await completeMention(line, state)) ?? completeSlash(line, state);
}

/** The last word of a prompt, up to the cursor. Names with blanks are quoted. */
async function completeMention(
  line: string,
  state: Pick<CompletionState, 'completeResource' | 'cwd'>,
): Promise<SlashCompletion | undefined> {
  const [, word, quoted, plain = ''] = /(?:^|\s)(@(?:"([^"]*)|([^\s"@]*)))$/.exec(line) ?? [];
  if (word === undefined || line.startsWith('/')) return undefined;
  const toWord = (path: string) =>
    quoted === undefined && !/\s/.test(path) ? `@${path}` : `@"${path}${/[/:]$/.test(path) ? '' : '"'}`;
  const typed = quoted ?? plain;
  const [files, resources] = await Promise.all([
    completePath(typed, state.cwd, toWord).catch(() => none),
    state.completeResource(typed).catch(() => []),
  ]);
  const candidates = [...files.candidates, ...resources.map(toWord)];
  return { candidates, completed: candidates.length === 0 ? '' : word };
}

/**
 * Completes a line up to the cursor; undefined if it is no slash command. Nothing is offered if the runner does not
 * answer.
 */
async function completeSlash(line: string, state: CompletionState): Promise<SlashCompletion | undefined> {
  const [, name, words] = /^\/(\S*)(?:\s+(.*))?$/s.exec(line) ?? [];
  if (name === undefined) return undefined;
  const offers = await slashOffers(name, state);
  if (words === undefined) {
    const prompts = usablePrompts(await state.prompts()).map(
      (prompt) => [prompt.name, prompt.arguments] as const,
    );
    return starting(
      line,
      [...offers, ...prompts].map(([command, offered]) => `/${command}${offered.length === 0 ? '' : ' '}`),
    );
  }
  try {
    const offered = offers.get(name);
    if (offered !== undefined) return await completeWords(words, offered, state);
    const prompt = usablePrompts(await state.prompts()).find((known) => known.name === name);
    return prompt ? await completeArguments(words, prompt, state) : none;
  } catch {
    return none;
  }
}

async function completeWords(
  words: string,
  offers: SlashOffers,
  state: CompletionState,
): Promise<SlashCompletion> {
  switch (offers) {
    case 'models':
      return starting(
        words,
        (await state.models()).map(({ name }) => name),
      );
    case 'sessions':
      return starting(
        words,
        (await state.sessions()).map(({ id }) => id),
      );
    case 'tools':
      return completeTools(words, state.knownTools);
    case 'files':
      return completePath(words, state.cwd, escapeBlanks);
    case 'promptFiles':
      return words.startsWith('@')
        ? completePath(words.slice(1), state.cwd, (path) => path)
        : starting(words, ['off']);
    default:
      return starting(words, offers);
  }
}

/** The arguments that have no value yet, by their names, and files, which are what most arguments name. */
async function completeArguments(
  words: string,
  prompt: Prompt,
  state: Pick<CompletionState, 'completeArgument' | 'cwd'>,
): Promise<SlashCompletion> {
  const { arguments: given } = prompt;
  const { cwd } = state;
  const [word = ''] = /(?:\\ |\S)*$/.exec(words) ?? [];
  const [, argument = '', value] = /^([^\s=]+)=(.*)$/.exec(word) ?? [];
  if (value !== undefined && given.some(({ name }) => name === argument)) {
    const offered = prompt.from === 'server' ? await state.completeArgument(prompt, argument, value) : [];
    if (offered.length > 0) return { candidates: offered.map(quoteBlanks), completed: value };
    return completePath(value, cwd, (path) => path);
  }
  const open = given.filter(({ name }) => !words.includes(`${name}=`)).map(({ name }) => `${name}=`);
  const named = starting(word, open);
  if (word === '' || named.candidates.length > 0) return named;
  return completePath(word, cwd, (path) => path);
}

/** The name of a server may have blanks. */
function completeTools(words: string, known: readonly string[]): SlashCompletion {
  const name = known.find((one) => words.startsWith(`${one} `));
  if (name !== undefined) return starting(words.slice(name.length).trimStart(), ['on', 'off']);
  return starting(
    words,
    known.map((one) => `${one} `),
  );
}

/** Folders end in a slash, so that Tab goes on in them. Hidden files are offered after a dot. */
export async function completePath(
  typed: string,
  cwd: string,
  toWord: (path: string) => string,
): Promise<SlashCompletion> {
  const path = typed.replace(/\\ /g, ' ');
  const begun = path.endsWith('/') ? '' : basename(path);
  const before = path.slice(0, path.length - begun.length);
  const folder = expandPath(cwd, before === '' ? '.' : before);
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter(({ name }) => name.startsWith(begun) && (begun.startsWith('.') || !name.startsWith('.')))
    .map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
  return {
    candidates: names.slice(0, maxFiles).map((name) => toWord(before + name)),
    completed: typed,
  };
}

/** As a value of an argument. */
function quoteBlanks(value: string): string {
  return /[\s"']/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;
}

function escapeBlanks(path: string): string {
  return path.replace(/ /g, '\\ ');
}

function starting(completed: string, words: readonly string[]): SlashCompletion {
  return { candidates: words.filter((word) => word.startsWith(completed)), completed };
}
