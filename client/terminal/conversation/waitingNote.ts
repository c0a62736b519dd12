import { showLine } from '../../../protocol/base/text.ts';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { listModelsRequest } from '../../../protocol/messages/models.ts';
import type { CallProgress, ToolProgress } from '../../../protocol/messages/tools.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { cutTo } from '../screen/columns.ts';
import type { Output } from '../screen/output.ts';

interface NoteParts {
  readonly daemon: DaemonClient;
  readonly model: string;
}

/** A call that has no result yet. */
interface RunningCall extends Partial<CallProgress> {
  readonly name: string;
  /** In ms, by the clock of the terminal. */
  readonly since: number;
}

const clearLine = '\r\u001b[K';
/** How often the seconds of a call are counted, in ms. */
const tick = 1_000;

export function noteWaiting(
  terminal: Pick<Terminal, 'patience' | 'now' | 'after'>,
  output: Output,
  parts: NoteParts,
): WaitingNote {
  const note = new WaitingNote(terminal, output, parts.model);
  // If the runner fails, the answer itself reports it.
  if (output.isRedrawable) noteLoading(note, parts).catch(() => undefined);
  return note;
}

async function noteLoading(note: WaitingNote, { daemon, model }: NoteParts): Promise<void> {
  const { models } = await daemon.request(listModelsRequest, { everywhere: true });
  const found = models.find(({ name }) => name === model);
  if (found && !found.running && !found.remote) await note.loads();
}

/**
 * A note on the screen about what an answer waits for: a model that is being loaded, or that reads a long prompt, or a
 * call of a tool.
 */
export class WaitingNote {
  readonly #terminal: Pick<Terminal, 'patience' | 'now' | 'after'>;
  readonly #output: Output;
  readonly #model: string;
  /** By their ids, in their order. */
  readonly #calls = new Map<string, RunningCall>();
  /** The model has not written anything yet, or has got the results of its calls. */
  #isModelAwaited = true;
  #isLoading = false;
  #isAsking = false;
  #isShown = false;
  #isOver: boolean;
  #stopTimer: (() => void) | undefined;

  constructor(terminal: Pick<Terminal, 'patience' | 'now' | 'after'>, output: Output, model: string) {
    this.#terminal = terminal;
    this.#output = output;
    this.#model = model;
    this.#isOver = !output.isRedrawable;
    this.#wait();
  }

  /** Removes the note before the delta is shown. After a notice, and after a call, it comes back. */
  async before(delta: ChatDelta): Promise<void> {
    const { kind } = delta;
    if (kind === 'toolCall')
      this.#calls.set(delta.toolCall.id, { name: delta.toolCall.name, since: this.#now() });
    if (kind === 'toolResult') this.#calls.delete(delta.toolResult.id);
    if (kind !== 'notice') this.#isModelAwaited = kind === 'toolResult' && this.#calls.size === 0;
    if (kind !== 'notice') this.#isLoading = false;
    await this.#clear();
    if (kind !== 'text' && kind !== 'thinking') this.#wait();
  }

  /** A call has come so far. */
  progress({ streamId: _, id, ...progress }: ToolProgress): void {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.set(id, { ...call, ...progress });
    if (this.#isShown) void this.#show();
  }

  /** Removes the note while a person is asked. */
  async during<T>(question: () => Promise<T>): Promise<T> {
    this.#isAsking = true;
    await this.#clear();
    try {
      return await question();
    } finally {
      this.#isAsking = false;
      // The time of the question is not that of the call.
      for (const [id, call] of this.#calls) this.#calls.set(id, { ...call, since: this.#now() });
      this.#wait();
    }
  }

  /** Removes the note for good. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#clear();
  }

  /** The model is not in memory: that is worth a note at once. */
  async loads(): Promise<void> {
    if (!this.#isModelAwaited || this.#isShown) return;
    this.#isLoading = true;
    await this.#show();
  }

  #wait(): void {
    const { patience } = this.#terminal;
    this.#stopTimer?.();
    if (patience !== undefined && !this.#isOver) this.#showAfter(patience);
  }

  #showAfter(milliseconds: number): void {
    this.#stopTimer = this.#terminal.after(milliseconds, () => void this.#show());
  }

  async #show(): Promise<void> {
    const text = this.#text();
    if (this.#isOver || this.#isAsking || text === undefined) return;
    const { style, columns } = this.#output;
    const before = this.#isShown ? clearLine : '';
    this.#isShown = true;
    this.#stopTimer?.();
    if (this.#calls.size > 0) this.#showAfter(tick);
    // A note of several lines could not be removed.
    await this.#output.write(before + style.dim(cutTo(text, columns - 1)));
  }

  #text(): string | undefined {
    const [call] = this.#calls.values();
    if (call) return describeRunning(call, { seconds: this.#seconds(call), others: this.#calls.size - 1 });
    if (!this.#isModelAwaited) return undefined;
    return `${this.#isLoading ? 'Loading' : 'Waiting for'} ${showLine(this.#model)} …`;
  }

  async #clear(): Promise<void> {
    this.#stopTimer?.();
    const wasShown = this.#isShown;
    this.#isShown = false;
    if (wasShown) await this.#output.write(clearLine);
  }

  #seconds({ since }: RunningCall): number {
    return Math.round((this.#now() - since) / 1_000);
  }

  /** Nobody looks at the clock where no note is shown. */
  #now(): number {
    return this.#terminal.patience === undefined ? 0 : this.#terminal.now();
  }
}

/** Such as `look … 5 s, 2 of 5: Reading`. */
function describeRunning(
  { name, progress, total, message }: RunningCall,
  { seconds, others }: { readonly seconds: number; readonly others: number },
): string {
  const more = others === 0 ? '' : ` and ${others} more`;
  const done =
    progress === undefined ? '' : total === undefined ? `, ${progress}` : `, ${progress} of ${total}`;
  const doing = message === undefined ? '' : `: ${showLine(message)}`;
  return `${showLine(name)}${more} … ${seconds} s${done}${doing}`;
}
