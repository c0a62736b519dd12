import { count, showControls, showLine } from '../../../protocol/base/text.ts';
import type { FileDiff } from '../../../protocol/messages/chat.ts';
import type {
  ElicitField,
  ElicitParams,
  ElicitResult,
  ElicitValue,
} from '../../../protocol/messages/elicit.ts';
import {
  type ApproveToolParams,
  type ApproveToolResult,
  builtinServer,
  type ToolDecision,
} from '../../../protocol/messages/tools.ts';
import { isYes } from '../cli/question.ts';
import type { Output } from '../screen/output.ts';
import { describeArguments, describeDiff, isCallCut, mainArgument } from '../screen/tools.ts';
import type { LineEditor } from './lineEditor.ts';

/** Asks a person before a call of a tool. An aborted signal withdraws the question. */
export type Approve = (call: ApproveToolParams, signal: AbortSignal) => Promise<ApproveToolResult>;

interface AnswerWord {
  readonly decision: ToolDecision;
  readonly word: string;
  readonly shown: string;
}

/** In the order in which they are offered. */
const answers: readonly AnswerWord[] = [
  { decision: 'once', word: 'yes', shown: '[y]es' },
  { decision: 'session', word: 'session', shown: 'for this [s]ession' },
  { decision: 'always', word: 'always', shown: '[a]lways' },
  { decision: 'deny', word: 'no', shown: '[n]o' },
];
/** To an edit, whose answer lasts no longer than that of the model. */
const editAnswers: readonly AnswerWord[] = [
  { decision: 'once', word: 'yes', shown: '[y]es' },
  { decision: 'answer', word: 'all', shown: '[a]ll edits of this answer' },
  { decision: 'deny', word: 'no', shown: '[n]o [WHY]' },
  { decision: 'stop', word: 'stop', shown: '[s]top' },
];

/** If a question names none. */
const usualDecisions: readonly ToolDecision[] = ['once', 'session', 'always', 'deny'];

/**
 * Asks at the prompt: a letter or its whole word, and Enter; behind a no, and behind a stop, there may be a reason for
 * the model. Anything else repeats the question. A change of a file is shown before it, folded if it is long. The
 * arguments are shown if the line of the call leaves some of them out, or is not on this screen (`isCallShown`). The
 * edits that nobody was asked about are `unseen`; those that were shown are taken out.
 */
export function approveThrough(
  editor: LineEditor,
  stdout: Output,
  { isCallShown = true, unseen = [] }: { readonly isCallShown?: boolean; readonly unseen?: FileDiff[] } = {},
): Approve {
  return async (question, signal) => {
    const { toolCall, diff, decisions = usualDecisions, command } = question;
    const words = diff ? editAnswers : answers;
    const possible = words.filter(({ decision }) => decisions.includes(decision));
    const change = diff && describeDiff(diff, stdout);
    if (change) await stdout.writeLine(change.text);
    else if (!isCallShown || isCallCut(toolCall)) await stdout.writeLine(describeArguments(toolCall));
    let isFolded = change?.isFolded === true;
    for (;;) {
      const hasUnseen = command !== undefined && unseen.length > 0;
      const others = [
        ...(isFolded ? ['show the [w]hole change'] : []),
        ...(hasUnseen ? [`show the [d]iff of ${count(unseen.length, 'edit')} that you have not seen`] : []),
      ];
      const text = await editor.question(
        promptOf(question, [...possible.map(({ shown }) => shown), ...others]),
        signal,
      );
      if (text === undefined) return { decision: 'deny' };
      const answer = answerIn(text, possible);
      if (answer) return answer;
      const word = text.trim().toLowerCase();
      if (diff && isFolded && (word === 'w' || word === 'whole')) {
        await stdout.writeLine(describeDiff(diff, stdout, true).text);
        isFolded = false;
      }
      if (hasUnseen && (word === 'd' || word === 'diff'))
        for (const edit of unseen.splice(0)) await stdout.writeLine(describeDiff(edit, stdout, true).text);
    }
  };
}

/** The decision, with the reason behind it: `n use util.js`. */
function answerIn(text: string, possible: readonly AnswerWord[]): ApproveToolResult | undefined {
  const [, first = '', reason = ''] = /^(\S*)\s*(.*)$/s.exec(text.trim()) ?? [];
  const said = first.toLowerCase();
  const found = possible.find(({ word }) => said === word || said === word.charAt(0));
  if (!found) return undefined;
  const { decision } = found;
  if (reason === '') return { decision };
  // What stands behind a yes would be lost.
  return decision === 'deny' || decision === 'stop' ? { decision, reason } : undefined;
}

/** Such as `test (npm test -- src/a.ts)`: all of what would run. */
function describeCommand({ arguments: given }: ApproveToolParams['toolCall'], command: readonly string[]) {
  const words = command.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word)));
  return showLine(`${String(given['name'])} (${words.join(' ')})`);
}

function promptOf({ toolCall, server, command }: ApproveToolParams, words: readonly string[]): string {
  const about = command === undefined ? mainArgument(toolCall) : describeCommand(toolCall, command);
  const called = `${server === builtinServer ? '' : ` of ${showLine(server)}`}${about && `: ${about}`}`;
  return `allow ${showLine(toolCall.name)}${called}? ${words.join(', ')} `;
}

/** Asks a person what a tool server wants to know. An aborted signal withdraws the question. */
export type Elicit = (question: ElicitParams, signal: AbortSignal) => Promise<ElicitResult>;

/**
 * Asks whether to answer, and then for one value after another; the daemon checks them. A bar stands before every word
 * of the server, so that none of its lines passes for a question of Runner.
 */
export function elicitThrough(editor: Pick<LineEditor, 'question'>, stdout: Output): Elicit {
  return async (question, signal) => {
    const { fields, problem, url } = question;
    const ask = async (words: string) => (await editor.question(words, signal))?.trim();
    if (problem === undefined) {
      await stdout.writeText(introduce(question, stdout));
      const agreed = await askYes(
        url !== undefined ? 'did you open it?' : fields.length === 0 ? 'agree?' : 'answer?',
        ask,
      );
      if (agreed !== true) return { action: agreed === undefined ? 'cancel' : 'decline' };
    } else await stdout.writeWarning(`│ ${showLine(problem)}`);
    const content: Record<string, ElicitValue> = {};
    for (const field of fields) {
      const value = await askValue(field, ask, stdout);
      if (value === undefined) return { action: 'cancel' };
      if (value !== '') content[field.name] = value;
    }
    return { action: 'accept', content };
  };
}

function introduce({ server, message, warning, url, host }: ElicitParams, { style }: Output): string {
  const name = showLine(server);
  const lines = [
    url === undefined
      ? `The tool server ${name} asks you:`
      : `The tool server ${name} asks you to open a page of ${showLine(host ?? '')} in your browser:`,
    ...showControls(message)
      .split('\n')
      .map((line) => style.dim(`│ ${line}`)),
    ...(url === undefined ? [] : [`│ ${showLine(url)}`]),
    ...(warning === undefined ? [] : [style.yellow(showLine(warning))]),
  ];
  return lines.join('\n');
}

type Ask = (words: string) => Promise<string | undefined>;

/** Undefined if the person leaves the question. */
async function askYes(words: string, ask: Ask): Promise<boolean | undefined> {
  for (;;) {
    const answer = await ask(`${words} [y]es, [n]o `);
    if (answer === undefined) return undefined;
    if (/^no?$/i.test(answer)) return false;
    if (isYes(answer)) return true;
  }
}

/** As typed; empty if the person leaves it out. */
async function askValue(field: ElicitField, ask: Ask, stdout: Output): Promise<ElicitValue | undefined> {
  const { title, name, description, type, options = [], required } = field;
  const about = description === undefined ? '' : ` (${showLine(description)})`;
  const numbered = options.map((option, index) => `│ ${index + 1} ${showLine(option.title)}`);
  if (numbered.length > 0) await stdout.writeText(numbered.join('\n'));
  const usual = defaultWords(field);
  const hint = usual ? ` [${usual}]` : required ? '' : ' [none]';
  const answer = await ask(`│ ${showLine(title ?? name)}${about}${kindWords[type]}${hint}: `);
  if (answer === undefined) return undefined;
  if (type !== 'choices') return byNumber(answer, options);
  const chosen = answer.split(',').map((one) => byNumber(one.trim(), options));
  return chosen.filter((one) => one !== '');
}

const kindWords: Readonly<Record<ElicitField['type'], string>> = {
  text: '',
  number: ', a number',
  integer: ', a whole number',
  boolean: ', yes or no',
  choice: ', its number',
  choices: ', numbers with commas',
};

function defaultWords({ default: usual, options = [] }: ElicitField): string {
  if (usual === undefined) return '';
  if (typeof usual === 'boolean') return usual ? 'yes' : 'no';
  const titleOf = (value: unknown) =>
    options.find((option) => option.value === value)?.title ?? String(value);
  return showLine(Array.isArray(usual) ? usual.map(titleOf).join(', ') : titleOf(usual));
}

function byNumber(answer: string, options: NonNullable<ElicitField['options']>): string {
  return /^\d+$/.test(answer) ? (options[Number(answer) - 1]?.value ?? answer) : answer;
}
