import { showLine } from '../../../protocol/base/controlCharacters.ts';
import type { ApproveToolParams, ToolDecision } from '../../../protocol/messages/tools.ts';
import type { Output } from '../screen/output.ts';
import { describeArguments, isCallCut } from '../screen/tools.ts';
import type { LineEditor } from './lineEditor.ts';

/** Asks a person before a call of a tool. An aborted signal withdraws the question. */
export type Approve = (call: ApproveToolParams, signal: AbortSignal) => Promise<ToolDecision>;

const decisions: ReadonlyMap<string, ToolDecision> = new Map([
  ['y', 'once'],
  ['yes', 'once'],
  ['s', 'session'],
  ['session', 'session'],
  ['a', 'always'],
  ['always', 'always'],
  ['n', 'deny'],
  ['no', 'deny'],
]);

/**
 * Asks at the prompt: a letter or its whole word, and Enter. Anything else repeats the question. The arguments are
 * shown if the line of the call leaves some of them out, or is not on this screen.
 */
export function approveThrough(editor: LineEditor, stdout: Output, isCallShown = true): Approve {
  return async ({ toolCall, server }, signal) => {
    if (!isCallShown || isCallCut(toolCall)) await stdout.writeLine(describeArguments(toolCall));
    for (;;) {
      const prompt = `allow ${showLine(toolCall.name)} of ${showLine(server)}? [y]es, for this [s]ession, [a]lways, [n]o `;
      const entry = await editor.question(prompt, signal);
      if (entry.kind === 'leave') return 'deny';
      const decision = decisions.get(entry.text.trim().toLowerCase());
      if (decision) return decision;
    }
  };
}
