import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { nearestNames } from '../../../protocol/base/editDistance.ts';
import { count } from '../../../protocol/base/text.ts';
import { agentModes } from '../../../protocol/messages/chat.ts';
import type { ListPromptsResult, Prompt } from '../../../protocol/messages/prompts.ts';
import { productNames } from '../../../protocol/messages/status.ts';
import {
  allowCheckRequest,
  type ListedCheck,
  listChecksRequest,
  listToolsRequest,
  type SuggestedCheck,
  suggestChecksRequest,
} from '../../../protocol/messages/tools.ts';
import { usageOf } from '../../shared/promptUsage.ts';
import { optionNames, thinkWords } from '../cli/flags.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { toolsTable } from '../screen/tools.ts';
import { findModel } from './chooseModel.ts';
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
  changeContext,
  changeMode,
  changeOption,
  changeRounds,
  changeSystem,
  changeThink,
  type SlashResult,
} from './slashSettings.ts';
import { unknownServer } from './toolChoice.ts';

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
      run: changeWindow,
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
      run: async (_, choose) => ({ text: '', choose }),
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
      run: showStats,
    },
    clear: { usage: '/clear', summary: 'begins a new conversation', run: forget },
    help: { usage: '/help', summary: 'shows this', run: showHelp },
    bye: { usage: '/bye', summary: 'leaves, as Ctrl-D does', run: leave },
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
  return {
    text: `There is no command /${showLine(name)}. ${hint}\nTo begin a prompt with a slash, type two.`,
  };
}

async function leave(): Promise<SlashResult> {
  return { text: '', leave: true };
}

async function showStats({ stats }: OpenConversation): Promise<SlashResult> {
  return { text: stats ?? 'There is no answer yet.' };
}

async function changeModel(conversation: OpenConversation, word: string): Promise<SlashResult> {
  const models = await conversation.models();
  if (word === '') {
    if (models.length === 0)
      return { text: 'No model that can chat is installed. Pull one with "runner pull".' };
    const list = models.map(
      ({ name }, index) => `${name === conversation.model ? '*' : ' '} ${index + 1}  ${showLine(name)}`,
    );
    return { text: [...list, 'Choose with "/model" and a number or a name.'].join('\n') };
  }
  const tagged = models.filter(({ name }) => name.startsWith(`${word}:`));
  const found =
    (/^\d+$/.test(word) ? models[Number(word) - 1] : undefined) ??
    (tagged.length === 1 ? tagged[0] : undefined) ??
    findModel(models, word);
  if (typeof found === 'string') return { text: `${found} "/model" lists them.` };
  await conversation.chooseModel(found.name);
  return { text: `Now talking to ${showLine(found.name)}.` };
}

async function changeTools(conversation: OpenConversation, words: string): Promise<SlashResult> {
  if (words === '')
    return {
      text: conversation.knownTools.length === 0 ? noTools : (await listTools(conversation)).trimEnd(),
    };
  // A name may have blanks.
  const isWhole = conversation.knownTools.includes(words);
  const [, name = '', what = ''] = isWhole ? ['', words] : (/^(.*?)(?:\s+(\S+))?$/s.exec(words) ?? []);
  if (!conversation.knownTools.includes(name)) return { text: unknownServer(name, conversation.knownTools) };
  if (what === 'on') conversation.tools.add(name);
  else if (what === 'off') conversation.tools.delete(name);
  else return { text: `Say "/tools ${showLine(name)} on" or "/tools ${showLine(name)} off".` };
  return { text: `The tools of ${showLine(name)} are ${what}.` };
}

/** A table of servers and tools. Starts the servers that do not run. */
async function listTools({ daemon, terminal, tools }: OpenConversation): Promise<string> {
  const { servers } = await daemon.request(listToolsRequest, {});
  return toolsTable(servers, terminal.stdout, (name) => tools.has(name));
}

/** The commands that models may run in this folder, and those that its files suggest. */
async function changeChecks(conversation: OpenConversation, word: string): Promise<SlashResult> {
  const { daemon } = conversation;
  const { checks } = await daemon.request(listChecksRequest, {});
  const { suggestions } = await daemon.request(suggestChecksRequest, {});
  const wanted = suggestions.find(({ name }) => name === word);
  if (wanted) return askAboutCheck(daemon, wanted);
  if (word !== '' && !checks.some(({ name }) => name === word))
    return { text: `Nothing suggests a check "${showLine(word)}". "/check" lists what there is.` };
  const shown = ({ name, command }: ListedCheck) => showLine(`${name.padEnd(12)} ${command.join(' ')}`);
  return {
    text: [
      ...(checks.length === 0 ? ['A model may run no command in this folder.'] : checks.map(shown)),
      ...suggestions.map((one) => `${shown(one)}   ${one.file} suggests it: "/check ${one.name}"`),
    ].join('\n'),
  };
}

function askAboutCheck(
  daemon: DaemonClient,
  { command, file, folder, name, hash }: SuggestedCheck,
): SlashResult {
  return {
    text: 'A check runs the code of the project with your rights. You are asked before each call.',
    confirm: {
      question: `let models run "${showLine(command.join(' '))}" here, until ${file} changes? [y/N] `,
      async yes() {
        await daemon.request(allowCheckRequest, { folder, name, hash });
        return { text: `The check ${name} counts from the next prompt on.` };
      },
      no: 'Nothing was changed.',
    },
  };
}

const noTools = 'There is no tool server. Enter one in "mcpServers" of ~/.config/runner/config.json.';

async function changeWindow(conversation: OpenConversation, word: string): Promise<SlashResult> {
  return (await whyFixed(conversation)) ?? changeContext(conversation, word);
}

/** `num_ctx` is the window, by the runner's name for it. */
async function changeAnyOption(conversation: OpenConversation, words: string): Promise<SlashResult> {
  const isWindow = /^(parameter\s+)?num_ctx\b/.test(words);
  return (isWindow ? await whyFixed(conversation) : undefined) ?? changeOption(conversation, words);
}

async function showHelp(conversation: OpenConversation): Promise<SlashResult> {
  const rows = (await possibleCommands('', conversation)).map(
    ([, { usage, summary }]) => `${usage.padEnd(42)} ${summary}`,
  );
  const text = [
    ...rows,
    ...(await promptRows(conversation)),
    '',
    'Tab completes commands, prompts, models, files and tools. Ctrl-C cancels an answer; twice at an empty prompt, it leaves.',
    '!COMMAND runs a command in your shell; what it writes goes along with the next prompt.',
    'In a prompt, @FILE sends a file along, @FOLDER/ and @src/**/*.ts several. Tab completes their names.',
    'Alt-Enter, or a backslash at the end of a line, goes on in the next; """ begins and ends several lines.',
    'Ctrl-R searches earlier prompts, Ctrl-X Ctrl-E opens the prompt in your editor.',
  ].join('\n');
  return { text };
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
async function whyFixed(conversation: Pick<OpenConversation, 'product'>): Promise<SlashResult | undefined> {
  const product = await conversation.product();
  if (product === undefined || product === 'ollama') return undefined;
  return { text: `${productNames[product]} fixes the context window when it loads the model. Set it there.` };
}
