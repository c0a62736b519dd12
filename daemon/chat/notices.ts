import type { Notice, NoticeCode } from '../../protocol/messages/chat.ts';
import type { AdvisedMessage } from '../base/advice.ts';
import type { DeltaPump } from './deltas.ts';

/** The notices of one turn: each code is sent at most once. */
export interface Notices {
  readonly all: readonly Notice[];
  readonly add: (code: NoticeCode, message: string | AdvisedMessage) => void;
}

export function createNotices(pump: DeltaPump): Notices {
  const all: Notice[] = [];
  return {
    all,
    add(code, message) {
      if (all.some((known) => known.code === code)) return;
      const notice = typeof message === 'string' ? { code, message } : { code, ...message };
      all.push(notice);
      pump.push({ kind: 'notice', notice });
    },
  };
}
