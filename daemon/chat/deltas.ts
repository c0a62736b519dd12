import type { ChatDelta, Notice, ToolCall } from '../../protocol/chat.ts';

/** What one delta carries, before it is numbered. */
export type DeltaContent =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly kind: 'toolCall'; readonly toolCall: ToolCall }
  | { readonly kind: 'notice'; readonly notice: Notice };

/** Beyond this many characters unsent, the runner is not read until the client has taken some. */
const maxBuffered = 1024 * 1024;

/** Sends one notification; the promise settles when it was written. */
export type SendDelta = (delta: ChatDelta) => Promise<void>;

/**
 * Sends deltas with at most one unwritten. While the client is slower than the model, neighbours of one kind become
 * one delta; while it is not, each goes at once. Order and text are kept, whatever the pace.
 */
export interface DeltaPump {
  push(content: DeltaContent): void;
  /** Settles when there is room for more; rejects when the client is gone. */
  ready(): Promise<void>;
  /** Settles when all was written; rejects when the client is gone. */
  flush(): Promise<void>;
}

export function createDeltaPump(streamId: string, send: SendDelta): DeltaPump {
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
