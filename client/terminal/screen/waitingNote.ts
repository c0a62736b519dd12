import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { listModelsRequest } from '../../../protocol/messages/models.ts';
import { type Surroundings, write } from '../cli/streams.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { cutTo } from './columns.ts';
import { showLine } from './controlCharacters.ts';
import { styleFor } from './style.ts';

/** Says on a screen what an answer waits for: a model that is loaded first, or one that reads a long prompt. */
export interface WaitingNote {
  /** Takes the note back before the delta is shown. After a notice it comes again. */
  before(delta: ChatDelta): Promise<void>;
  /** Takes the note back for good. */
  end(): Promise<void>;
}

const clearLine = '\r\u001b[K';

export function noteWaiting(
  { env, patience }: Surroundings,
  stream: Surroundings['stdout'],
  { daemon, model }: { readonly daemon: Daemon; readonly model: string },
): WaitingNote {
  let isOver = !stream.isTTY || env['TERM'] === 'dumb';
  let isShown = false;
  let reason = 'Waiting for';
  let timer: NodeJS.Timeout | undefined;

  const show = async () => {
    if (isOver || isShown) return;
    isShown = true;
    // A note of several lines could not be taken back.
    const note = cutTo(`${reason} ${showLine(model)} …`, (stream.columns || 80) - 1);
    await write(stream, styleFor(stream, env).dim(note));
  };
  const wait = () => {
    if (patience !== undefined && !isOver) timer = setTimeout(show, patience);
  };
  const clear = async () => {
    clearTimeout(timer);
    const wasShown = isShown;
    isShown = false;
    if (wasShown) await write(stream, clearLine);
  };
  const look = async () => {
    const { models } = await daemon.request(listModelsRequest, {});
    const found = models.find(({ name }) => name === model);
    if (!found || found.running || found.remote) return;
    reason = 'Loading';
    await show();
  };

  wait();
  // The answer itself says what is wrong with a runner.
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
