import type { ApproveToolParams, ToolDecision } from '../../../protocol/messages/tools.ts';
import { type Surroundings, writeLine } from '../cli/streams.ts';
import { showLine } from '../screen/controlCharacters.ts';
import type { LineEditor } from './lineEditor.ts';
import { describeArguments, isCallCut } from './toolLines.ts';

/** Asks a person before a call. An aborted signal takes the question back. */
export type Approve = (question: ApproveToolParams, signal: AbortSignal) => Promise<ToolDecision>;

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
 * The arguments are shown where the call's own line leaves some of them out, or is not on this screen.
 * A letter or its whole word, and Enter; whatever else is typed, the question comes again.
 */
export function approveThrough(
  editor: LineEditor,
  stdout: Surroundings['stdout'],
  isCallShown = true,
): Approve {
  return async ({ toolCall, server }, signal) => {
    const name = showLine(toolCall.name);
    if (!isCallShown || isCallCut(toolCall)) await writeLine(stdout, describeArguments(toolCall));
    for (;;) {
      const prompt = `allow ${name} of ${showLine(server)}? [y]es, for this [s]ession, [a]lways, [n]o `;
      const entry = await editor.question(prompt, signal);
      if (entry.kind === 'leave') return 'deny';
      const decision = decisions.get(entry.text.trim().toLowerCase());
      if (decision) return decision;
    }
  };
}
