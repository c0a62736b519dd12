import { nearestNames } from '../../../protocol/base/editDistance.ts';
import { count, showLine } from '../../../protocol/base/text.ts';
import { agentModes } from '../../../protocol/messages/chat.ts';
import type { ListPromptsResult, Prompt } from '../../../protocol/messages/prompts.ts';
import { productNames } from '../../../protocol/messages/status.ts';
import { usageOf } from '../../shared/words.ts';
import { optionNames, thinkWords } from '../cli/flags.ts';
import type { OpenConversation } from './openConversation.ts';
import {
  changeSession,
  changeTitle,
  copyAnswer,
  editTurn,
  forget,
  forkHere,
  redoEdits,
  retryTurn,
  saveAnswer,
  showEdits,
  undoTurn,
} from './slashConversation.ts';
import {
  attachFile,
  attachImage,
  changeChecks,
  changeContext,
  changeMode,
  changeModel,
  changeOption,
  changeRounds,
  changeSystem,
  changeThink,
  changeTools,
  type SlashResult,
} from './slashSettings.ts';

/** What Tab offers for the words of a command. */
export type SlashOffers = 'models' | 'files' | 'promptFiles' | 'sessions' | 'tools' | readonly string[];

interface SlashCommand {
  readonly usage: string;
  readonly summary: string;
  readonly offers?: SlashOffers;
  readonly run: (conversation: OpenConversation, word: string) => Promise<SlashResult>;
}

const commands: ReadonlyMap<string, SlashCommand> = new Map(
  Object.entries<SlashCommand>({
    model: {
      usage: '/model [NAME]',
      summary: 'shows the models, or changes to one',
      offers: 'models',
      run: changeModel,
    },
    think: {
      usage: `/think [${[...thinkWords.keys()].join('|')}]`,
      summary: 'how much a thinking model thinks',
      offers: [...thinkWords.keys()],
      run: changeThink,
    },
    system: {
      usage: '/system [TEXT|@FILE|off]',
      summary: 'shows the system prompt, or sets it',
      offers: 'promptFiles',
      run: changeSystem,
    },
    set: {
      usage: '/set [NAME VALUE|NAME off]',
      summary: 'the options of the runner, such as temperature',
      offers: optionNames,
      run: changeAnyOption,
    },
    context: {
      usage: '/context [N|auto]',
      summary: 'tokens of the window, such as 8192 or 32k',
      offers: ['auto'],
      run: async (conversation, word) => (await whyFixed(conversation)) ?? changeContext(conversation, word),
    },
    file: {
      usage: '/file FILE',
      summary: 'a text to send with the next prompt',
      offers: 'files',
      run: attachFile,
    },
    image: {
      usage: '/image FILE',
      summary: 'a picture to send with the next prompt',
      offers: 'files',
      run: attachImage,
    },
    sessions: {
      usage: '/sessions [NUMBER|ID]',
      summary: 'shows the conversations, or changes to one',
      offers: 'sessions',
      run: changeSession,
    },
    resume: {
      usage: '/resume [WORDS]',
      summary: 'searches the conversations, to choose one',
      run: async (_, choose) => ({ choose }),
    },
    fork: {
      usage: '/fork [TURNS]',
      summary: 'continues in a copy with all turns, or the first ones',
      run: forkHere,
    },
    title: { usage: '/title [TITLE]', summary: 'shows the title, or sets it', run: changeTitle },
    tools: {
      usage: '/tools [NAME on|off]',
      summary: 'shows the tools, or switches a server',
      offers: 'tools',
      run: changeTools,
    },
    check: {
      usage: '/check [NAME]',
      summary: 'shows the commands that it may run, or takes one that is suggested',
      run: changeChecks,
    },
    mode: {
      usage: `/mode [${agentModes.join('|')}]`,
      summary: 'what it may do with files without a question',
      offers: agentModes,
      run: changeMode,
    },
    rounds: {
      usage: '/rounds [N|auto]',
      summary: 'how often it may call tools before it has to answer',
      offers: ['auto'],
      run: changeRounds,
    },
    retry: { usage: '/retry', summary: 'asks the last prompt again', run: retryTurn },
    undo: { usage: '/undo', summary: 'takes back the last prompt and its answer', run: undoTurn },
    edits: { usage: '/edits', summary: 'shows what the last answer has changed', run: showEdits },
    redo: { usage: '/redo', summary: 'brings back the edits that /undo took back', run: redoEdits },
    edit: { usage: '/edit', summary: 'takes it back, and puts the prompt into the line', run: editTurn },
    copy: {
      usage: '/copy [N]',
      summary: 'copies the last answer, or its Nth block of code',
      run: copyAnswer,
    },
    save: {
      usage: '/save FILE',
      summary: 'writes the last answer to a file',
      offers: 'files',
      run: saveAnswer,
    },
    stats: {
      usage: '/stats',
      summary: 'what the last answer took, and how full the window is',
      run: async ({ stats }) => stats ?? 'There is no answer yet.',
    },
    clear: { usage: '/clear', summary: 'begins a new conversation', run: forget },
    help: { usage: '/help', summary: 'shows this', run: showHelp },
    bye: { usage: '/bye', summary: 'leaves, as Ctrl-D does', run: async () => ({ leave: true }) },
  }),
);
const otherNames: ReadonlyMap<string, string> = new Map([
  ['exit', 'bye'],
  ['quit', 'bye'],
  ['?', 'help'],
  ['models', 'model'],
  ['img', 'image'],
  ['attach', 'file'],
]);

/** Every name that leads to a command, and to no prompt. */
export const commandNames: readonly string[] = [...commands.keys(), ...otherNames.keys()];

/** What is suggested for a typo: nothing that ends the conversation. */
const harmless: readonly string[] = [...commands.keys()].filter(
  (name) => !['clear', 'bye', 'undo', 'redo', 'edit', 'retry'].includes(name),
);

/** The commands, with what Tab offers for their words: at least those that begin so. */
export async function slashOffers(
  begun: string,
  conversation: Pick<OpenConversation, 'product'>,
): Promise<ReadonlyMap<string, SlashOffers>> {
  return new Map(
    (await possibleCommands(begun, conversation)).map(([name, { offers = [] }]) => [name, offers]),
  );
}

/**
 * Whether an entry is a command, and not a prompt: its first word is that of a command, or it is a single line whose
 * first word may be a mistyped one. What a compiler or a shell prints often begins with a path.
 */
export function isSlashCommand(text: string): boolean {
  const name = firstWordOf(text);
  return name !== undefined && (commandNames.includes(name) || !text.includes('\n'));
}

/** Whether an entry is a command that there is. */
export function isCommand(text: string): boolean {
  return commandNames.includes(firstWordOf(text) ?? '');
}

function firstWordOf(text: string): string | undefined {
  return /^\/([^\s/]*)(?=\s|$)/.exec(text)?.[1];
}

/** Runs a line that begins with one slash. (`//` begins a prompt.) */
export async function runSlashCommand(line: string, conversation: OpenConversation): Promise<SlashResult> {
  const [, name = '', word = ''] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const command = commands.get(otherNames.get(name) ?? name);
  if (command) return command.run(conversation, word.trim());
  const prompts = usablePrompts(await conversation.prompts()).map((prompt) => prompt.name);
  const near = nearestNames(name, [...harmless, ...prompts], 1)[0];
  const hint = near === undefined ? '"/help" lists the commands.' : `Did you mean /${near}?`;
  return `There is no command /${showLine(name)}. ${hint}\nTo begin a prompt with a slash, type two.`;
}

/** `num_ctx` is the window, by the runner's name for it. */
async function changeAnyOption(conversation: OpenConversation, words: string): Promise<string> {
  const isWindow = /^(parameter\s+)?num_ctx\b/.test(words);
  return (isWindow ? await whyFixed(conversation) : undefined) ?? changeOption(conversation, words);
}

async function showHelp(conversation: OpenConversation): Promise<string> {
  const rows = (await possibleCommands('', conversation)).map(
    ([, { usage, summary }]) => `${usage.padEnd(42)} ${summary}`,
  );
  return [
    ...rows,
    ...(await promptRows(conversation)),
    '',
    'Tab completes commands, prompts, models, files and tools. Ctrl-C cancels an answer; twice at an empty prompt, it leaves.',
    '!COMMAND runs a command in your shell; what it writes goes along with the next prompt.',
    'In a prompt, @FILE sends a file along, @FOLDER/ and @src/**/*.ts several. Tab completes their names.',
    'Alt-Enter, or a backslash at the end of a line, goes on in the next; """ begins and ends several lines.',
    'Ctrl-R searches earlier prompts, Ctrl-X Ctrl-E opens the prompt in your editor.',
  ].join('\n');
}

/** The prompts that can be typed behind a slash. */
export function usablePrompts({ prompts }: ListPromptsResult): readonly Prompt[] {
  return prompts.filter(({ problem, hiddenBy }) => problem === undefined && hiddenBy === undefined);
}

async function promptRows(conversation: OpenConversation): Promise<readonly string[]> {
  const listed = await conversation.prompts();
  const { folder } = listed;
  const rows = usablePrompts(listed).map((prompt) =>
    `${usageOf(prompt).padEnd(42)} ${showLine(prompt.description)}`.trimEnd(),
  );
  if (folder?.state === 'unasked')
    rows.push(`${showLine(folder.path)} has ${count(folder.files, 'prompt')} that you have not allowed yet.`);
  return rows.length === 0 ? [] : ['', 'Prompts:', ...rows];
}

/** The commands without what the server cannot do. It is asked only if that matters to what begins so. */
async function possibleCommands(begun: string, conversation: Pick<OpenConversation, 'product'>) {
  const isFixed = 'context'.startsWith(begun) && (await whyFixed(conversation)) !== undefined;
  return [...commands].filter(([name]) => !isFixed || name !== 'context');
}

/** Only Ollama takes a size of the window with a request. */
async function whyFixed(conversation: Pick<OpenConversation, 'product'>): Promise<string | undefined> {
  const product = await conversation.product();
  if (product === undefined || product === 'ollama') return undefined;
  return `${productNames[product]} fixes the context window when it loads the model. Set it there.`;
}
