import { showLine } from '../../../protocol/base/controlCharacters.ts';
import {
  type ApproveToolParams,
  builtinServer,
  type ToolDecision,
} from '../../../protocol/messages/tools.ts';
import { describeDiff } from '../screen/diff.ts';
import type { Output } from '../screen/output.ts';
import { describeArguments, isCallCut, mainArgument } from '../screen/tools.ts';
import type { LineEditor } from './lineEditor.ts';

/** Asks a person before a call of a tool. An aborted signal withdraws the question. */
export type Approve = (call: ApproveToolParams, signal: AbortSignal) => Promise<ToolDecision>;

/** In the order in which they are offered. */
const answers: readonly { readonly decision: ToolDecision; readonly word: string; readonly shown: string }[] =
  [
    { decision: 'once', word: 'yes', shown: '[y]es' },
    { decision: 'session', word: 'session', shown: 'for this [s]ession' },
    { decision: 'always', word: 'always', shown: '[a]lways' },
    { decision: 'deny', word: 'no', shown: '[n]o' },
  ];

/**
 * Asks at the prompt: a letter or its whole word, and Enter. Anything else repeats the question. A change of a file is
 * shown before it, folded if it is long. The arguments are shown if the line of the call leaves some of them out, or is
 * not on this screen.
 */
export function approveThrough(editor: LineEditor, stdout: Output, isCallShown = true): Approve {
  return async (question, signal) => {
    const { toolCall, diff, decisions } = question;
    const possible = answers.filter(({ decision }) => decisions?.includes(decision) ?? true);
    const change = diff && describeDiff(diff, stdout);
    if (change) await stdout.writeLine(change.text);
    else if (!isCallShown || isCallCut(toolCall)) await stdout.writeLine(describeArguments(toolCall));
    let isFolded = change?.isFolded === true;
    for (;;) {
      const entry = await editor.question(promptOf(question, possible, isFolded), signal);
      if (entry.kind === 'leave') return 'deny';
      const word = entry.text.trim().toLowerCase();
      const found = possible.find((answer) => word === answer.word || word === answer.word.charAt(0));
      if (found) return found.decision;
      if (diff && isFolded && (word === 'w' || word === 'whole')) {
        await stdout.writeLine(describeDiff(diff, stdout, true).text);
        isFolded = false;
      }
    }
  };
}

/** Such as `test (npm test -- src/a.ts)`: all of what would run. */
function describeCommand({ arguments: given }: ApproveToolParams['toolCall'], command: readonly string[]) {
  const words = command.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word)));
  return showLine(`${String(given['name'])} (${words.join(' ')})`);
}

function promptOf(
  { toolCall, server, command }: ApproveToolParams,
  possible: typeof answers,
  isFolded: boolean,
): string {
  const about = command === undefined ? mainArgument(toolCall) : describeCommand(toolCall, command);
  const called = `${server === builtinServer ? '' : ` of ${showLine(server)}`}${about && `: ${about}`}`;
  const words = [...possible.map(({ shown }) => shown), ...(isFolded ? ['show the [w]hole change'] : [])];
  return `allow ${showLine(toolCall.name)}${called}? ${words.join(', ')} `;
}
