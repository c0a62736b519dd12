import { listModelsRequest } from '../../protocol/models.ts';
import { showLine } from './controlCharacters.ts';
import type { Daemon } from './daemon.ts';
import { type Surroundings, write } from './streams.ts';
import { styleFor } from './style.ts';

/** Says on a screen that a model is not loaded yet, until the first of its answer comes. */
export interface LoadingNote {
  /** Takes the note back, where there is one. */
  end(): Promise<void>;
}

const clearLine = '\r\u001b[K';

export function noteLoading(
  { env }: Surroundings,
  stream: Surroundings['stdout'],
  { daemon, model }: { readonly daemon: Daemon; readonly model: string },
): LoadingNote {
  let state: 'asked' | 'shown' | 'ended' = stream.isTTY && env['TERM'] !== 'dumb' ? 'asked' : 'ended';
  const look = async () => {
    const { models } = await daemon.request(listModelsRequest, {});
    const found = models.find(({ name }) => name === model);
    if (state !== 'asked' || !found || found.running || found.remote) return;
    state = 'shown';
    await write(stream, styleFor(stream, env).dim(`Loading ${showLine(model)} …`));
  };
  // The answer itself says what is wrong with a runner.
  if (state === 'asked') look().catch(() => undefined);
  return {
    async end() {
      const wasShown = state === 'shown';
      state = 'ended';
      if (wasShown) await write(stream, clearLine);
    },
  };
}
