import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChatDelta, Notice, ToolCall } from '../../protocol/messages/chat.ts';
import type { WaitReason } from '../runner/runner.ts';

/** The content of one delta, before the delta is numbered. */
type DeltaContent =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly kind: 'toolCall'; readonly toolCall: ToolCall }
  | { readonly kind: 'notice'; readonly notice: Notice };

/** Beyond this many unsent characters, reading from the runner stops until the client has taken some. */
const maxBuffered = 1024 * 1024;

/** Sends one notification. The promise settles when it is written. */
export type SendDelta = (delta: ChatDelta) => Promise<void>;

export type DeltaPump = ReturnType<typeof createDeltaPump>;

/**
 * Sends deltas, of which at most one is unwritten. While the client is slower than the model, neighbouring deltas of
 * one kind are merged; otherwise each is sent at once. The order and the text stay the same at any pace. `ready`
 * settles when there is room for more, `flush` when everything is written; both reject when the client is gone.
 */
export function createDeltaPump(streamId: string, send: SendDelta) {
  const queue: DeltaContent[] = [];
  let buffered = 0;
  let seq = 0;
  let failure: unknown;
  let writing: Promise<void> | undefined;

  const write = async () => {
    try {
      for (let next = queue.shift(); next; next = queue.shift()) {
        buffered -= sizeOf(next);
        await send({ streamId, seq: seq++, ...next });
        // What the runner has already sent is read in this turn, and goes out together.
        await nextTurn();
      }
    } catch (error) {
      failure = error;
      queue.length = 0;
      buffered = 0;
    } finally {
      writing = undefined;
    }
  };

  const push = (content: DeltaContent) => {
    if (failure !== undefined) return;
    const last = queue.at(-1);
    if (last && 'text' in last && 'text' in content && last.kind === content.kind) {
      queue[queue.length - 1] = { kind: content.kind, text: last.text + content.text };
    } else {
      queue.push(content);
    }
    buffered += sizeOf(content);
    writing ??= write();
  };

  const settle = async (limit: number) => {
    while (writing && buffered >= limit) await writing;
    if (failure !== undefined) throw failure;
  };

  return { push, ready: () => settle(maxBuffered), flush: () => settle(0) };
}

function sizeOf(content: DeltaContent): number {
  return 'text' in content ? content.text.length : JSON.stringify(content).length;
}

export type Notices = ReturnType<typeof createNotices>;

/** The notices of one round: each code is sent at most once. */
export function createNotices(pump: DeltaPump) {
  const all: Notice[] = [];
  return {
    all: all as readonly Notice[],
    add(notice: Notice): void {
      if (all.some(({ code }) => code === notice.code)) return;
      all.push(notice);
      pump.push({ kind: 'notice', notice });
    },
  };
}

/** The model gets no tools. */
export function toolsDisabled(model: string): Notice {
  return {
    code: 'tools-disabled',
    message: `${model} does not support tools, so they were left out. Choose a model with tools to use them.`,
  };
}

export const answerLoops: Notice = {
  code: 'answer-loops',
  message:
    'The model wrote the same text again and again, so its answer was stopped. Ask again, or in other words.',
};

export function answerLost(tokens: number): Notice {
  return {
    code: 'answer-lost',
    message: `The model wrote ${tokens} tokens that the runner did not pass on, most likely a tool call that the runner could not read. Ask again.`,
  };
}

export function answerEmpty(hasThought: boolean): Notice {
  const message = hasThought
    ? 'The model thought, and stopped without an answer. Ask again, or with less thinking.'
    : 'The model stopped without an answer. Ask again, or in other words.';
  return { code: 'answer-empty', message };
}

export function schemasSimplified(names: readonly string[]): Notice {
  return {
    code: 'tool-schemas-simplified',
    message: `The runner refused the schemas of ${new Intl.ListFormat('en-GB').format(names)}, so the model got simpler ones. What it calls is still checked.`,
  };
}

export function waiting(wait: WaitReason, model: string): Notice {
  return wait === 'loading'
    ? { code: 'model-loading', message: `The runner is loading ${model}. The answer follows.` }
    : {
        code: 'waiting-for-slot',
        message: 'The runner is busy with other answers. Yours begins when one of them has ended.',
      };
}
