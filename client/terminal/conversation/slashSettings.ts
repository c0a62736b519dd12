import { showLine } from '../../../protocol/base/text.ts';
import { type AgentMode, agentModes } from '../../../protocol/messages/chat.ts';
import { chooseChatModelRequest } from '../../../protocol/messages/models.ts';
import {
  allowCheckRequest,
  type ListedCheck,
  listChecksRequest,
  listToolsRequest,
  type SuggestedCheck,
  suggestChecksRequest,
} from '../../../protocol/messages/tools.ts';
import {
  parseContext,
  parseMode,
  parseOption,
  parseRounds,
  parseThink,
  thinkWordOf,
  thinkWords,
} from '../cli/flags.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { toolsTable } from '../screen/tools.ts';
import { readFileAlong, readImage } from './attachments.ts';
import { type ChatSettings, readSystem, unknownServer } from './chatSettings.ts';
import { findModel } from './chooseModel.ts';
import type { OpenConversation } from './openConversation.ts';

export async function changeThink({ settings }: OpenConversation, word: string): Promise<string> {
  if (word === '') {
    const words = [...thinkWords.keys()].join(', ');
    return `Thinking is ${thinkWordOf(settings.think)}. Choose one of ${words}.`;
  }
  settings.think = parseThink(word);
  return word === 'auto' ? 'Thinking is left to the model.' : `Thinking is ${word}.`;
}

export async function changeSystem({ settings, cwd }: OpenConversation, text: string): Promise<string> {
  if (text === '')
    return settings.system === undefined
      ? "There is no system prompt but the model's own. Set one with /system TEXT, or /system @FILE."
      : settings.system.split('\n').map(showLine).join('\n');
  settings.system = text === 'off' ? undefined : await readSystem(cwd, text);
  return text === 'off' ? "The system prompt is the model's own again." : 'The system prompt is set.';
}

/** Also takes what people know from other tools: `/set parameter NAME VALUE`, `/set system TEXT`, `/set nothink`. */
export async function changeOption(conversation: OpenConversation, words: string): Promise<string> {
  const { settings } = conversation;
  const [, first = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(words.replace(/^parameter\s+/, '')) ?? [];
  if (first === '') return describeOptions(settings);
  if (first === 'system') return changeSystem(conversation, rest);
  if (first === 'think') return changeThink(conversation, rest === '' ? 'on' : rest);
  if (first === 'nothink') return changeThink(conversation, 'off');
  if (first === 'num_ctx') return changeContext(conversation, rest);
  if (rest === '' && !first.includes('=')) return describeOption(settings, first);
  if (rest === 'off') {
    const { [first]: _, ...others } = settings.options;
    settings.options = others;
    return `${showLine(first)} is left to the model.`;
  }
  const [name, value] = parseOption(
    first.includes('=') ? `${first}${rest}` : `${first}=${rest.replace(/^=\s*/, '')}`,
  );
  settings.options = { ...settings.options, [name]: value };
  return describeOption(settings, name);
}

function describeOptions({ options }: ChatSettings): string {
  const rows = Object.entries(options).map(([name, value]) => showLine(`${name} ${JSON.stringify(value)}`));
  return rows.length === 0
    ? 'No option is set. Set one with /set NAME VALUE, such as /set temperature 0.2.'
    : rows.join('\n');
}

function describeOption({ options }: ChatSettings, name: string): string {
  return Object.hasOwn(options, name)
    ? showLine(`${name} is ${JSON.stringify(options[name])}.`)
    : `${showLine(name)} is left to the model. Set it with /set ${showLine(name)} VALUE.`;
}

export async function changeContext({ settings }: OpenConversation, word: string): Promise<string> {
  if (word !== '') settings.context = word === 'auto' || word === 'off' ? undefined : parseContext(word);
  return settings.context === undefined
    ? 'The size of the context window is left to the runner. Set it with /context N, such as /context 8192.'
    : `The context window has ${settings.context} tokens from the next prompt on.`;
}

const modeSummaries: Readonly<Record<AgentMode, string>> = {
  read: 'it reads, and changes nothing',
  ask: 'you are asked before each edit and each check',
  edit: 'it edits without a question, and you are asked before each check',
  auto: 'it reads, edits and runs checks without a question',
};

export async function changeMode({ settings }: OpenConversation, word: string): Promise<string> {
  if (word !== '') settings.mode = parseMode(word);
  const { mode = 'ask' } = settings;
  const also =
    mode === 'edit' || mode === 'auto' ? ' Files that decide what runs are asked about all the same.' : '';
  return `The mode is ${mode}: ${modeSummaries[mode]}.${also} Change it with /mode ${agentModes.join('|')}.`;
}

export async function changeRounds({ settings }: OpenConversation, word: string): Promise<string> {
  if (word !== '') settings.rounds = word === 'auto' ? undefined : parseRounds(word);
  const now = settings.rounds === undefined ? 'as in the setting "rounds" (40)' : settings.rounds;
  return `Rounds of tools in one turn: ${now}. Change them with /rounds N.`;
}

export async function attachFile({ settings, cwd }: OpenConversation, word: string): Promise<string> {
  const path = pathOfWord(word);
  if (path === '') return describeAttached(settings);
  const { attachments, images } = await readFileAlong(cwd, path);
  settings.attachments = [...settings.attachments, ...attachments];
  settings.images = [...settings.images, ...images];
  return `${showLine(path)} goes along with the next prompt.`;
}

export async function attachImage({ settings, cwd }: OpenConversation, word: string): Promise<string> {
  const path = pathOfWord(word);
  if (path === '') return describeAttached(settings);
  settings.images = [...settings.images, await readImage(cwd, path)];
  return `${showLine(path)} goes along with the next prompt.`;
}

/** Reads quotes and escaped blanks as a shell does, because terminals insert dragged files that way. */
export function pathOfWord(word: string): string {
  const quoted = /^(["'])(.*)\1$/s.exec(word);
  return quoted?.[2] ?? word.replace(/\\ /g, ' ');
}

function describeAttached({ attachments, images }: ChatSettings): string {
  const rows = attachments.map(({ path }) => showLine(path));
  const pictures =
    images.length === 0 ? [] : [images.length === 1 ? 'one picture' : `${images.length} pictures`];
  const all = [...rows, ...pictures];
  return all.length === 0
    ? 'Nothing goes along with the next prompt. Say which: /file FILE, or /image FILE.'
    : `With the next prompt go: ${all.join(', ')}.`;
}

export async function changeModel(conversation: OpenConversation, word: string): Promise<string> {
  const models = await conversation.models();
  if (word === '') {
    if (models.length === 0) return 'No model that can chat is installed. Pull one with "runner pull".';
    const list = models.map(
      ({ name }, index) => `${name === conversation.model ? '*' : ' '} ${index + 1}  ${showLine(name)}`,
    );
    return [...list, 'Choose with "/model" and a number or a name.'].join('\n');
  }
  const tagged = models.filter(({ name }) => name.startsWith(`${word}:`));
  const found =
    (/^\d+$/.test(word) ? models[Number(word) - 1] : undefined) ??
    (tagged.length === 1 ? tagged[0] : undefined) ??
    findModel(models, word);
  if (typeof found === 'string') return `${found} "/model" lists them.`;
  conversation.model = found.name;
  // Every client begins with it.
  await conversation.daemon.request(chooseChatModelRequest, { model: found.name });
  return `Now talking to ${showLine(found.name)}.`;
}

export async function changeTools(conversation: OpenConversation, words: string): Promise<string> {
  if (words === '')
    return conversation.knownTools.length === 0 ? noTools : (await listTools(conversation)).trimEnd();
  // A name may have blanks.
  const isWhole = conversation.knownTools.includes(words);
  const [, name = '', what = ''] = isWhole ? ['', words] : (/^(.*?)(?:\s+(\S+))?$/s.exec(words) ?? []);
  if (!conversation.knownTools.includes(name)) return unknownServer(name, conversation.knownTools);
  if (what === 'on') conversation.tools.add(name);
  else if (what === 'off') conversation.tools.delete(name);
  else return `Say "/tools ${showLine(name)} on" or "/tools ${showLine(name)} off".`;
  return `The tools of ${showLine(name)} are ${what}.`;
}

/** A table of servers and tools. Starts the servers that do not run. */
async function listTools({ daemon, terminal, tools }: OpenConversation): Promise<string> {
  const { servers } = await daemon.request(listToolsRequest, {});
  return toolsTable(servers, terminal.stdout, (name) => tools.has(name));
}

/** The commands that models may run in this folder, and those that its files suggest. */
export async function changeChecks(conversation: OpenConversation, word: string): Promise<SlashResult> {
  const { daemon } = conversation;
  const { checks } = await daemon.request(listChecksRequest, {});
  const { suggestions } = await daemon.request(suggestChecksRequest, {});
  const wanted = suggestions.find(({ name }) => name === word);
  if (wanted) return askAboutCheck(daemon, wanted);
  if (word !== '' && !checks.some(({ name }) => name === word))
    return `Nothing suggests a check "${showLine(word)}". "/check" lists what there is.`;
  const shown = ({ name, command }: ListedCheck) => showLine(`${name.padEnd(12)} ${command.join(' ')}`);
  return [
    ...(checks.length === 0 ? ['A model may run no command in this folder.'] : checks.map(shown)),
    ...suggestions.map((one) => `${shown(one)}   ${one.file} suggests it: "/check ${one.name}"`),
  ].join('\n');
}

function askAboutCheck(
  daemon: DaemonClient,
  { command, file, folder, name, hash }: SuggestedCheck,
): SlashAction {
  return {
    text: 'A check runs the code of the project with your rights. You are asked before each call.',
    confirm: {
      question: `let models run "${showLine(command.join(' '))}" here, until ${file} changes? [y/N] `,
      async yes() {
        await daemon.request(allowCheckRequest, { folder, name, hash });
        return `The check ${name} counts from the next prompt on.`;
      },
      no: 'Nothing was changed.',
    },
  };
}

const noTools = 'There is no tool server. Enter one in "mcpServers" of ~/.config/runner/config.json.';

/** What came of a slash command: what to show, or also what to do. */
export type SlashResult = string | SlashAction;

export interface SlashAction {
  readonly text?: string;
  readonly leave?: true;
  /** Whether the last prompt is asked again. */
  readonly again?: true;
  /** A prompt to put into the line, for the user to change. */
  readonly edit?: string;
  /** The user chooses a conversation to continue, beginning with this search. */
  readonly choose?: string;
  /** A question, and what a yes does. Its result is shown. */
  readonly confirm?: {
    readonly question: string;
    readonly yes: () => Promise<SlashResult>;
    /** Other answers, by their words; the first letter is enough. */
    readonly others?: ReadonlyMap<string, () => Promise<SlashResult>>;
    readonly no: string;
  };
}
