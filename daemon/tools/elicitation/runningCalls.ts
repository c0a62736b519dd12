import { linkedSignal, orAborted } from '../../../protocol/base/abort.ts';
import type { ElicitResult } from '../../../protocol/messages/elicit.ts';
import type { ElicitForCall } from '../../chat/daemonTools.ts';
import { maxQuestions } from '../mcpClient.ts';
import { answerElicitation } from './elicitation.ts';

/** A call that runs at a server. */
interface RunningCall {
  readonly elicit: ElicitForCall | undefined;
  readonly signal: AbortSignal;
  /** The user thinks: the time without a sign of the server does not count until `goOn`. */
  readonly pause: () => void;
  readonly goOn: () => void;
}

interface Asked {
  readonly server: string;
  /** Aborted when the server withdraws its question. */
  readonly signal: AbortSignal;
  readonly refuse: (clause: string) => void;
}

/** The calls that run at one server, on whose behalf it may ask the user. */
export class RunningCalls {
  readonly #calls = new Map<RunningCall, { questions: number }>();

  /** Returns what ends it. */
  begin(call: RunningCall): () => void {
    this.#calls.set(call, { questions: 0 });
    return () => this.#calls.delete(call);
  }

  /** MCP does not say which call a question belongs to: it is the one that began last. */
  async elicit(asked: unknown, { server, signal, refuse }: Asked): Promise<ElicitResult> {
    const [call, count] = [...this.#calls].at(-1) ?? [];
    if (!call || !count) refuse('asked the user something outside of a call');
    else if (++count.questions > maxQuestions)
      refuse(`asked the user more than ${maxQuestions} times in one call`);
    if (!call?.elicit || !count || count.questions > maxQuestions) return { action: 'decline' };
    const open = linkedSignal(signal, call.signal);
    call.pause();
    try {
      const { elicit: ask } = call;
      const answer = answerElicitation(asked, { server, ask, signal: open.signal, refuse });
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
