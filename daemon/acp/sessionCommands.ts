import type { AvailableCommand } from '@agentclientprotocol/sdk';
import { agentModes } from '../../protocol/messages/chat.ts';
import type { RestoredEdits, SuggestedCheck } from '../../protocol/messages/tools.ts';
import { describeMode } from './pickers.ts';
import type { AcpSession } from './sessions.ts';
import type { RunningTools } from './sessionTools.ts';

/** The commands of a session with the built-in tools. No prompt has their names. */
export const sessionCommands: readonly AvailableCommand[] = [
  {
    name: 'mode',
    description: 'Shows what the model may do without a question, or changes it',
    input: { hint: agentModes.join(', ') },
  },
  {
    name: 'check',
    description: 'Shows the commands that the model may run, or takes one that is suggested',
    input: { hint: '[name]' },
  },
  { name: 'undo', description: 'Takes back the last prompt, and the edits of its answer' },
  { name: 'redo', description: 'Brings back the edits that /undo took back' },
];

export interface CommandParts {
  readonly session: AcpSession;
  readonly tools: RunningTools;
  readonly changeMode: (word: string) => Promise<unknown>;
  /** Whether models may run it from now on. */
  readonly agreesTo: (check: SuggestedCheck) => Promise<boolean>;
  /** How many prompts the conversation has. */
  readonly turns: () => Promise<number>;
  readonly undoTurn: () => Promise<unknown>;
  readonly signal: AbortSignal;
}

/** What to say to a message that is a command of ours; undefined if it is none. */
export async function runSessionCommand(text: string, parts: CommandParts): Promise<string | undefined> {
  const [, name, word = ''] = /^\/(mode|check|undo|redo)(?:\s+(.*?))?\s*$/s.exec(text) ?? [];
  if (name === undefined) return undefined;
  await parts.tools.require('all');
  if (name === 'mode') return changeMode(word, parts);
  if (name === 'check') return takeCheck(word, parts);
  return name === 'undo' ? undo(parts) : redo(parts);
}

async function changeMode(word: string, { session, changeMode }: CommandParts): Promise<string> {
  if (word !== '' && !agentModes.some((mode) => mode === word))
    return `There is no mode "${word}". There are: ${agentModes.join(', ')}.`;
  if (word !== '') await changeMode(word);
  return describeMode(session.mode ?? 'ask');
}

async function takeCheck(word: string, { tools, agreesTo }: CommandParts): Promise<string> {
  const checks = await tools.checks();
  const [known, suggested] = await Promise.all([checks.list(), checks.suggest()]);
  const wanted = suggested.find(({ name }) => name === word);
  if (wanted) {
    if (!(await agreesTo(wanted))) return 'Nothing was changed.';
    await checks.allow(wanted);
    return `The check ${wanted.name} counts from the next prompt on.`;
  }
  const lines = [
    ...known.map(({ name, command }) => `- ${name}: \`${command.join(' ')}\``),
    ...suggested.map(
      ({ name, command, file }) =>
        `- ${name}: \`${command.join(' ')}\`, suggested by ${file}; "/check ${name}" takes it`,
    ),
  ];
  return lines.length === 0 ? 'A model may run no command in this folder.' : lines.join('\n');
}

async function undo({ session: { id }, tools, signal, ...kept }: CommandParts): Promise<string> {
  const prompts = await kept.turns();
  if (prompts === 0) return 'There is no prompt yet.';
  const edits = await tools.edits();
  const { count } = await edits.list(id, prompts);
  const restored = count === 0 ? undefined : await edits.undo(id, prompts, signal);
  await kept.undoTurn();
  return ['The model has forgotten the last prompt and its answer.', ...describe('Took back', restored)].join(
    '\n',
  );
}

async function redo({ session, tools, signal }: CommandParts): Promise<string> {
  const restored = await (await tools.edits()).redo(session.id, signal);
  const lines = describe('Brought back', restored);
  return lines.length === 0 ? 'No edits of this conversation were taken back.' : lines.join('\n');
}

function describe(done: string, { restored, left }: RestoredEdits = { restored: [], left: [] }) {
  return [
    ...(restored.length === 0 ? [] : [`${done} the edits of ${restored.join(', ')}.`]),
    ...left.map(({ name, reason }) => `${name} stays as it is: ${reason}`),
  ];
}
