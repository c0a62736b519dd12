import type { ChatParams } from '../../protocol/chat.ts';
import type { Model } from '../../protocol/models.ts';
import { findModel } from './chooseModel.ts';
import { showLine } from './controlCharacters.ts';
import { nearest } from './nearest.ts';

/** What a slash command may look at and change. */
export interface ConversationState {
  model: string;
  think: ChatParams['think'];
  clear(): void;
  models(): Promise<readonly Model[]>;
}

/** What to show, and whether to leave. */
export interface SlashResult {
  readonly text: string;
  readonly leave?: true;
}

interface SlashCommand {
  readonly usage: string;
  readonly summary: string;
  readonly run: (state: ConversationState, word: string) => Promise<SlashResult>;
}

const thinkWords = new Map<string, ChatParams['think']>([
  ['on', true],
  ['off', false],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['max', 'max'],
  ['auto', undefined],
]);

const thinkUsage = '/think [on|off|low|medium|high|max|auto]';
const commands: ReadonlyMap<string, SlashCommand> = new Map([
  ['model', { usage: '/model [NAME]', summary: 'shows the models, or changes to one', run: changeModel }],
  ['think', { usage: thinkUsage, summary: 'how much a thinking model thinks', run: changeThink }],
  ['clear', { usage: '/clear', summary: 'forgets the conversation', run: forget }],
  ['help', { usage: '/help', summary: 'shows this', run: async () => ({ text: helpText() }) }],
  ['bye', { usage: '/bye', summary: 'leaves, as Ctrl-D does', run: leave }],
]);
const otherNames: ReadonlyMap<string, string> = new Map([
  ['exit', 'bye'],
  ['quit', 'bye'],
  ['?', 'help'],
  ['models', 'model'],
]);

/** Runs a line that begins with a slash; `//` begins a prompt with one slash, and is none. */
export async function runSlashCommand(line: string, state: ConversationState): Promise<SlashResult> {
  const [, name = '', word = ''] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const command = commands.get(otherNames.get(name) ?? name);
  if (command) return command.run(state, word.trim());
  const near = nearest(name, [...commands.keys()], 1)[0];
  const hint = near === undefined ? '"/help" lists the commands.' : `Did you mean /${near}?`;
  return {
    text: `There is no command /${showLine(name)}. ${hint}\nTo begin a prompt with a slash, type two.`,
  };
}

async function leave(): Promise<SlashResult> {
  return { text: '', leave: true };
}

async function forget(state: ConversationState): Promise<SlashResult> {
  state.clear();
  return { text: 'The conversation is forgotten.' };
}

async function changeModel(state: ConversationState, word: string): Promise<SlashResult> {
  const models = await state.models();
  if (word === '') {
    if (models.length === 0)
      return { text: 'No model that can chat is installed. Pull one with "runner pull".' };
    const list = models.map(
      ({ name }, index) => `${name === state.model ? '*' : ' '} ${index + 1}  ${showLine(name)}`,
    );
    return { text: [...list, 'Choose with "/model" and a number or a name.'].join('\n') };
  }
  const found = (/^\d+$/.test(word) ? models[Number(word) - 1] : undefined) ?? findModel(models, word);
  if (typeof found === 'string') return { text: `${found} "/model" lists them.` };
  state.model = found.name;
  return { text: `Now talking to ${showLine(found.name)}.` };
}

async function changeThink(state: ConversationState, word: string): Promise<SlashResult> {
  if (word === '')
    return {
      text: `Thinking is ${nameOf(state.think)}. Choose one of ${[...thinkWords.keys()].join(', ')}.`,
    };
  if (!thinkWords.has(word))
    return { text: `"${showLine(word)}" is none of ${[...thinkWords.keys()].join(', ')}.` };
  state.think = thinkWords.get(word);
  return { text: word === 'auto' ? 'Thinking is left to the model.' : `Thinking is ${word}.` };
}

function nameOf(think: ChatParams['think']): string {
  return [...thinkWords].find(([, value]) => value === think)?.[0] ?? 'auto';
}

function helpText(): string {
  const rows = [...commands.values()].map(({ usage, summary }) => `${usage.padEnd(42)} ${summary}`);
  return [
    ...rows,
    '',
    'Ctrl-C cancels an answer; at an empty prompt it leaves.',
    'A backslash at the end of a line continues on the next.',
  ].join('\n');
}
