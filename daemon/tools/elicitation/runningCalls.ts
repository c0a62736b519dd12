import { linkedSignal, orAborted } from '../../../protocol/base/abort.ts';
import type { ElicitResult } from '../../../protocol/messages/elicit.ts';
import type { ElicitForCall } from '../../chat/daemonTools.ts';
import { maxQuestions } from '../mcpClient.ts';
import { answerElicitation, type ElicitationOptions, refused } from './elicitation.ts';

/** A call that runs at a server. */
interface RunningCall {
  readonly elicit: ElicitForCall | undefined;
  readonly signal: AbortSignal;
  /** The user thinks: the time without a sign of the server does not count until `goOn`. */
  readonly pause: () => void;
  readonly goOn: () => void;
}

/** The calls that run at one server, on whose behalf it may ask the user. */
export class RunningCalls {
  readonly #calls = new Set<RunningCall & { questions: number }>();

  /** Returns what ends it. */
  begin(call: RunningCall): () => void {
    const counted = { ...call, questions: 0 };
    this.#calls.add(counted);
    return () => this.#calls.delete(counted);
  }

  /**
   * The signal is aborted when the server withdraws its question. MCP does not say which call a question belongs to: it
   * is the one that began last.
   */
  async elicit(asked: unknown, options: Omit<ElicitationOptions, 'ask'>): Promise<ElicitResult> {
    const call = [...this.#calls].at(-1);
    if (!call) return refused(options, 'asked the user something outside of a call');
    if (++call.questions > maxQuestions)
      return refused(options, `asked the user more than ${maxQuestions} times in one call`);
    const { elicit: ask } = call;
    if (!ask) return { action: 'decline' };
    const open = linkedSignal(options.signal, call.signal);
    call.pause();
    try {
      const answer = answerElicitation(asked, { ...options, ask, signal: open.signal });
      return await orAborted(answer, open.signal);
    } catch {
      // It was withdrawn, or the client could not ask.
      return { action: 'cancel' };
    } finally {
      open.unlink();
      if (this.#calls.has(call)) call.goOn();
    }
  }
}
