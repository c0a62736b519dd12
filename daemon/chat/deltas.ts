import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChatDelta, Notice, NoticeCode, ToolCall } from '../../protocol/messages/chat.ts';
import type { AdvisedMessage } from '../base/errors.ts';

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
    add: (code: NoticeCode, message: string | AdvisedMessage) => {
      if (all.some((known) => known.code === code)) return;
      const notice = typeof message === 'string' ? { code, message } : { code, ...message };
      all.push(notice);
      pump.push({ kind: 'notice', notice });
    },
  };
}
