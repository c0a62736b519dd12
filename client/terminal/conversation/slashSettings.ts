import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { type AgentMode, agentModes } from '../../../protocol/messages/chat.ts';
import {
  parseContext,
  parseMode,
  parseOption,
  parseRounds,
  parseThink,
  thinkWordOf,
  thinkWords,
} from '../cli/flags.ts';
import { type ChatSettings, readFileAlong, readImage, readSystem } from './chatSettings.ts';
import type { OpenConversation } from './openConversation.ts';

export async function changeThink({ settings }: OpenConversation, word: string): Promise<SlashResult> {
  if (word === '') {
    const words = [...thinkWords.keys()].join(', ');
    return { text: `Thinking is ${thinkWordOf(settings.think)}. Choose one of ${words}.` };
  }
  settings.think = parseThink(word);
  return { text: word === 'auto' ? 'Thinking is left to the model.' : `Thinking is ${word}.` };
}

export async function changeSystem({ settings, cwd }: OpenConversation, text: string): Promise<SlashResult> {
  if (text === '')
    return {
      text:
        settings.system === undefined
          ? "There is no system prompt but the model's own. Set one with /system TEXT, or /system @FILE."
          : settings.system.split('\n').map(showLine).join('\n'),
    };
  settings.system = text === 'off' ? undefined : await readSystem(cwd, text);
  return {
    text: text === 'off' ? "The system prompt is the model's own again." : 'The system prompt is set.',
  };
}

/** Also takes what people know from other tools: `/set parameter NAME VALUE`, `/set system TEXT`, `/set nothink`. */
export async function changeOption(conversation: OpenConversation, words: string): Promise<SlashResult> {
  const { settings } = conversation;
  const [, first = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(words.replace(/^parameter\s+/, '')) ?? [];
  if (first === '') return { text: describeOptions(settings) };
  if (first === 'system') return changeSystem(conversation, rest);
  if (first === 'think') return changeThink(conversation, rest === '' ? 'on' : rest);
  if (first === 'nothink') return changeThink(conversation, 'off');
  if (first === 'num_ctx') return changeContext(conversation, rest);
  if (rest === '' && !first.includes('=')) return { text: describeOption(settings, first) };
  if (rest === 'off') {
    const { [first]: _, ...others } = settings.options;
    settings.options = others;
    return { text: `${showLine(first)} is left to the model.` };
  }
  const [name, value] = parseOption(
    first.includes('=') ? `${first}${rest}` : `${first}=${rest.replace(/^=\s*/, '')}`,
  );
  settings.options = { ...settings.options, [name]: value };
  return { text: describeOption(settings, name) };
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

export async function changeContext({ settings }: OpenConversation, word: string): Promise<SlashResult> {
  if (word !== '') settings.context = word === 'auto' || word === 'off' ? undefined : parseContext(word);
  return {
    text:
      settings.context === undefined
        ? 'The size of the context window is left to the runner. Set it with /context N, such as /context 8192.'
        : `The context window has ${settings.context} tokens from the next prompt on.`,
  };
}

const modeSummaries: Readonly<Record<AgentMode, string>> = {
  read: 'it reads, and changes nothing',
  ask: 'you are asked before each edit and each check',
  edit: 'it edits without a question, and you are asked before each check',
  auto: 'it reads, edits and runs checks without a question',
};

export async function changeMode({ settings }: OpenConversation, word: string): Promise<SlashResult> {
  if (word !== '') settings.mode = parseMode(word);
  const { mode = 'ask' } = settings;
  const also =
    mode === 'edit' || mode === 'auto' ? ' Files that decide what runs are asked about all the same.' : '';
  return {
    text: `The mode is ${mode}: ${modeSummaries[mode]}.${also} Change it with /mode ${agentModes.join('|')}.`,
  };
}

export async function changeRounds({ settings }: OpenConversation, word: string): Promise<SlashResult> {
  if (word !== '') settings.rounds = word === 'auto' ? undefined : parseRounds(word);
  const now = settings.rounds === undefined ? 'as in the setting "rounds" (40)' : settings.rounds;
  return { text: `Rounds of tools in one turn: ${now}. Change them with /rounds N.` };
}

export async function attachFile({ settings, cwd }: OpenConversation, word: string): Promise<SlashResult> {
  const path = pathOfWord(word);
  if (path === '') return { text: describeAttached(settings) };
  const { attachments, images } = await readFileAlong(cwd, path);
  settings.attachments = [...settings.attachments, ...attachments];
  settings.images = [...settings.images, ...images];
  return { text: `${showLine(path)} goes along with the next prompt.` };
}

export async function attachImage({ settings, cwd }: OpenConversation, word: string): Promise<SlashResult> {
  const path = pathOfWord(word);
  if (path === '') return { text: describeAttached(settings) };
  settings.images = [...settings.images, await readImage(cwd, path)];
  return { text: `${showLine(path)} goes along with the next prompt.` };
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

/** The result of a slash command: what to show, and whether to leave. */
export interface SlashResult {
  readonly text: string;
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
