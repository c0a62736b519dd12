import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { count } from '../../../protocol/base/text.ts';
import type { FileDiff } from '../../../protocol/messages/chat.ts';
import {
  type ApproveToolParams,
  type ApproveToolResult,
  builtinServer,
  type ToolDecision,
} from '../../../protocol/messages/tools.ts';
import { describeDiff } from '../screen/diff.ts';
import type { Output } from '../screen/output.ts';
import { describeArguments, isCallCut, mainArgument } from '../screen/tools.ts';
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

export interface ApprovalOptions {
  /** False: the line of the call is not on this screen. */
  readonly isCallShown?: boolean;
  /** The edits that nobody was asked about. Those that were shown are taken out. */
  readonly unseen?: FileDiff[];
}

/**
 * Asks at the prompt: a letter or its whole word, and Enter; behind a no, and behind a stop, there may be a reason for
 * the model. Anything else repeats the question. A change of a file is shown before it, folded if it is long. The
 * arguments are shown if the line of the call leaves some of them out, or is not on this screen.
 */
export function approveThrough(
  editor: LineEditor,
  stdout: Output,
  { isCallShown = true, unseen = [] }: ApprovalOptions = {},
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
      const text = await editor.question(promptOf(question, [...possible.map(shownOf), ...others]), signal);
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

function shownOf({ shown }: AnswerWord): string {
  return shown;
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
