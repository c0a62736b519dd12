import { count } from '../../../protocol/base/text.ts';
import type { Session } from '../../../protocol/messages/sessions.ts';
import { describeSession, titleOf } from './keptConversation.ts';
import type { SlashResult } from './slashSettings.ts';

/** What the commands about conversations read and change. */
export interface WithSession {
  /** Undefined before the first prompt. */
  readonly session: Session | undefined;
  /** The kept conversations, newest first. */
  sessions(): Promise<readonly Session[]>;
  /** Continues another conversation. */
  change(id: string): Promise<void>;
  /**
   * Goes on in a new conversation with what was said, or with its first turns; the other one stays. Returns how many
   * turns it has; undefined if this one has fewer.
   */
  fork(turns: number | undefined): Promise<number | undefined>;
  retitle(title: string): Promise<void>;
  /** Begins a new conversation. */
  clear(): void;
}

export async function changeSession(state: WithSession, word: string): Promise<SlashResult> {
  const sessions = await state.sessions();
  if (word === '') {
    if (sessions.length === 0) return { text: 'No conversation is kept yet.' };
    const list = sessions.map(
      (session, index) =>
        `${session.id === state.session?.id ? '*' : ' '} ${String(index + 1).padStart(2)}  ${describeSession(session)}`,
    );
    return {
      text: [...list, 'Choose with "/sessions" and a number. Older ones: "runner sessions".'].join('\n'),
    };
  }
  await state.change((/^\d{1,3}$/.test(word) ? sessions[Number(word) - 1]?.id : undefined) ?? word);
  return { text: '' };
}

export async function forkHere(state: WithSession, word: string): Promise<SlashResult> {
  if (word !== '' && !/^[1-9]\d{0,5}$/.test(word))
    return { text: 'Say "/fork", or "/fork 2" to keep the first two turns.' };
  const before = state.session;
  const turns = await state.fork(word === '' ? undefined : Number(word));
  if (turns === undefined)
    return { text: word === '' ? 'There is no turn yet.' : `There is no turn ${word} yet.` };
  const back = before ? `; "/sessions ${before.id}" goes back to it` : '';
  return { text: `This is a new conversation with ${count(turns, 'turn')}. The other one stays${back}.` };
}

export async function changeTitle(state: WithSession, word: string): Promise<SlashResult> {
  if (word !== '') await state.retitle(word);
  const { session } = state;
  return {
    text: session ? `The title is "${titleOf(session)}".` : 'There is no title before the first prompt.',
  };
}

export async function forget(state: WithSession): Promise<SlashResult> {
  state.clear();
  return { text: 'This is a new conversation.' };
}
