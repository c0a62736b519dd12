import { showLine } from '../../../protocol/base/text.ts';
import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
  type FileDiff,
  type Message,
} from '../../../protocol/messages/chat.ts';
import { elicitRequest } from '../../../protocol/messages/elicit.ts';
import { approveToolRequest, toolProgress } from '../../../protocol/messages/tools.ts';
import { failureOf, refusedParameter, reportOf } from '../cli/failure.ts';
import type { Interrupts, Terminal } from '../cli/terminal.ts';
import type { TerminalConnection } from '../daemon/connection.ts';
import { BackpressureQueue, type DaemonClient } from '../daemon/daemon.ts';
import { createAnswerPrinter } from '../screen/answerPrinter.ts';
import { AnswerClock, describeUsage } from './answerStats.ts';
import { withNearModels } from './chooseModel.ts';
import type { LineEditor } from './lineEditor.ts';
import type { BegunTurn, OpenConversation, TurnEnd } from './openConversation.ts';
import { type Approve, approveThrough, type Elicit, elicitThrough } from './questions.ts';
import { noteWaiting, type WaitingNote } from './waitingNote.ts';

/** Asks for one answer. All deltas are handled, one at a time, before it settles, even if it fails. */
export type AskForTurn = (
  params: Omit<ChatParams, 'streamId'>,
  listener: { readonly take: (delta: ChatDelta) => Promise<void>; readonly waiting: WaitingNote },
  signal: AbortSignal,
) => Promise<ChatResult>;

/** `daemon` is called at each turn, because the daemon may have been replaced. */
export function createTurns(
  daemon: () => DaemonClient,
  { approve, elicit }: { readonly approve: Approve; readonly elicit?: Elicit },
): AskForTurn {
  let count = 0;
  return async (params, { take, waiting }, signal) => {
    const current = daemon();
    const streamId = `terminal-${count++}`;
    const ended = new AbortController();
    let question: Promise<unknown> = Promise.resolve();
    // While a person is asked, other calls may go on. Their results would be written into the line of the question.
    const deltas = new BackpressureQueue<ChatDelta>(current, async (delta) => {
      await question;
      await take(delta);
    });
    const stop = current.onNotification(chatDelta, (delta) => {
      if (delta.streamId === streamId) deltas.push(delta);
    });
    const stopWatching = current.onNotification(toolProgress, (report) => {
      if (report.streamId === streamId) waiting.progress(report);
    });
    const askPerson = async <T>(
      asked: AbortSignal,
      ask: (withdrawn: AbortSignal) => Promise<T>,
    ): Promise<T> => {
      // The call must be on the screen before the question.
      await deltas.settle();
      const withdrawn = AbortSignal.any([asked, ended.signal]);
      const answer = waiting.during(() => ask(withdrawn));
      question = answer.catch(() => undefined);
      return answer;
    };
    const stopAnswering = current.onRequest(approveToolRequest, (call, asked) =>
      askPerson(asked, (withdrawn) => approve(call, withdrawn)),
    );
    const stopEliciting =
      elicit &&
      current.onRequest(elicitRequest, (wanted, asked) =>
        askPerson(asked, (withdrawn) => elicit(wanted, withdrawn)),
      );
    try {
      return await current.request(chatRequest, { streamId, ...params }, signal);
    } finally {
      stop();
      stopWatching();
      stopAnswering();
      stopEliciting?.();
      ended.abort();
      await deltas.settle();
    }
  };
}

/** Shows the answers of a conversation, each as it arrives. */
export class AnswerScreen {
  readonly #terminal: Terminal;
  readonly #connection: TerminalConnection;
  readonly #conversation: OpenConversation;
  readonly #ask: AskForTurn;
  /** Edits that nobody was asked about. */
  readonly #unseen: FileDiff[] = [];

  constructor(
    terminal: Terminal,
    connection: TerminalConnection,
    { editor, conversation }: { readonly editor: LineEditor; readonly conversation: OpenConversation },
  ) {
    this.#terminal = terminal;
    this.#connection = connection;
    this.#conversation = conversation;
    this.#ask = createTurns(() => connection.daemon, {
      approve: approveThrough(editor, terminal.stdout, { unseen: this.#unseen }),
      elicit: elicitThrough(editor, terminal.stdout),
    });
  }

  /** Shows one answer as it arrives. Returns what came of it. */
  async show(params: BegunTurn['params'], interrupts: Interrupts): Promise<TurnEnd> {
    const { stdout, now } = this.#terminal;
    const { style } = stdout;
    const { model } = params;
    const printer = createAnswerPrinter(style, stdout.columns);
    await stdout.write('\n');
    const clock = new AnswerClock(now);
    const waiting = noteWaiting(this.#terminal, stdout, { daemon: this.#connection.daemon, model });
    const take = async (delta: ChatDelta) => {
      if (interrupts.isForced) return;
      clock.note(delta);
      if (delta.kind === 'toolResult' && delta.toolResult.diff) this.#unseen.push(delta.toolResult.diff);
      await waiting.before(delta);
      return stdout.write(printer.delta(delta));
    };
    try {
      const result = await this.#ask(params, { take, waiting }, interrupts.signal);
      const stats = clock.stats(result);
      await waiting.end();
      if (interrupts.isForced) return nothingAdded;
      await stdout.write(printer.end());
      await this.#say(`${style.dim(describeUsage(showLine(model), result, stats))}\n`);
      this.#conversation.noteStats(model, stats);
      const added = result.messages ?? withoutEmpty(result.message);
      const isWhole = added.length > 0 && result.finishReason !== 'cancelled';
      if (result.finishReason !== 'toolLimit') return { added, isWhole };
      const calls = added.filter(({ toolCalls = [] }) => toolCalls.length > 0);
      return { added, isWhole, roundsUsed: params.maxRounds ?? calls.length };
    } catch (error) {
      await waiting.end();
      // The user did not wait for the cancel.
      if (interrupts.isForced) return nothingAdded;
      await stdout.write(printer.end());
      return { added: await this.#showFailure(model, error), isWhole: false };
    }
  }

  /** Returns what had come of the answer. */
  async #showFailure(model: string, cause: unknown): Promise<readonly Message[]> {
    const error = await withNearModels(this.#connection.daemon, model, cause);
    const { kind, message, partial, messages } = reportOf(error, this.#terminal);
    await this.#say(`${this.#terminal.stdout.style.red(message)}\n`);
    if (refusedParameter(cause)?.path === 'session') {
      this.#conversation.loseSession();
      await this.#terminal.stdout.writeAside('The next prompt begins a new conversation.\n');
    }
    if (kind === 'daemon-failed') await this.#renewDaemon();
    return messages ?? (partial ? withoutEmpty(partial) : []);
  }

  /** The conversation outlives its daemon. */
  async #renewDaemon(): Promise<void> {
    const { style } = this.#terminal.stdout;
    try {
      await this.#connection.renew();
      const goesOn = await this.#conversation.reload().then(
        () => 'the conversation can go on',
        () => 'the conversation was not kept, so a new one begins',
      );
      await this.#terminal.stdout.writeLine(style.dim(`It was started again: ${goesOn}.\n`));
    } catch (error) {
      await this.#say(`${style.red(failureOf(error).message)}\n`);
    }
  }

  #say(text: string): Promise<void> {
    return this.#terminal.stdout.writeText(text);
  }
}

const nothingAdded: TurnEnd = { added: [], isWhole: false };

function withoutEmpty(message: Message): readonly Message[] {
  const isEmpty = message.content === '' && !message.thinking && !message.toolCalls?.length;
  return isEmpty ? [] : [message];
}
