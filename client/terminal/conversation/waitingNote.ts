import { showLine } from '../../../protocol/base/controlCharacters.ts';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { listModelsRequest } from '../../../protocol/messages/models.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { cutTo } from '../screen/columns.ts';
import type { Output } from '../screen/output.ts';

/** A note on the screen about what an answer waits for: a model that is being loaded, or that reads a long prompt. */
export interface WaitingNote {
  /** Removes the note before the delta is shown. After a notice it comes back. */
  before(delta: ChatDelta): Promise<void>;
  /** Removes the note for good. */
  end(): Promise<void>;
}

const clearLine = '\r\u001b[K';

export function noteWaiting(
  { patience }: Pick<Terminal, 'patience'>,
  output: Output,
  { daemon, model }: { readonly daemon: Daemon; readonly model: string },
): WaitingNote {
  let isOver = !output.isRedrawable;
  let isShown = false;
  let reason = 'Waiting for';
  let timer: NodeJS.Timeout | undefined;

  const show = async () => {
    if (isOver || isShown) return;
    isShown = true;
    // A note of several lines could not be removed.
    const note = cutTo(`${reason} ${showLine(model)} …`, output.columns - 1);
    await output.write(output.style.dim(note));
  };
  const wait = () => {
    if (patience !== undefined && !isOver) timer = setTimeout(show, patience);
  };
  const clear = async () => {
    clearTimeout(timer);
    const wasShown = isShown;
    isShown = false;
    if (wasShown) await output.write(clearLine);
  };
  const look = async () => {
    const { models } = await daemon.request(listModelsRequest, {});
    const found = models.find(({ name }) => name === model);
    if (!found || found.running || found.remote) return;
    reason = 'Loading';
    await show();
  };

  wait();
  // If the runner fails, the answer itself reports it.
  if (!isOver) look().catch(() => undefined);
  return {
    async before({ kind }) {
      if (kind !== 'notice') isOver = true;
      await clear();
      wait();
    },
    async end() {
      isOver = true;
      await clear();
    },
  };
}
