import { linkedSignal } from '../../protocol/base/abort.ts';
import type { AgentMode } from '../../protocol/messages/chat.ts';

/** What a built-in tool does. Tools of servers have none of it: their approvals hold in every mode. */
export type ToolAct = 'read' | 'edit' | 'check';

type Rule = 'runs' | 'asked' | 'refused';

/** What is asked has its own approvals besides. */
const rules: Readonly<Record<AgentMode, Readonly<Record<ToolAct, Rule>>>> = {
  read: { read: 'asked', edit: 'refused', check: 'refused' },
  ask: { read: 'asked', edit: 'asked', check: 'asked' },
  edit: { read: 'asked', edit: 'runs', check: 'asked' },
  auto: { read: 'runs', edit: 'runs', check: 'runs' },
};

/** Whether a model is offered such a tool in this mode. */
export function isOffered(mode: AgentMode, act: ToolAct | undefined): boolean {
  return act === undefined || rules[mode][act] !== 'refused';
}

interface OpenQuestion {
  readonly act: ToolAct | undefined;
  /** The user answers it in every mode. */
  readonly isAskedAnyway: boolean;
  withdraw(): void;
}

/** The mode of a turn that is running, and what the user has answered for the whole of it. */
export class TurnMode {
  #mode: AgentMode;
  #allowsEdits = false;
  #isStopped = false;
  readonly #questions = new Set<OpenQuestion>();

  constructor(mode: AgentMode = 'ask') {
    this.#mode = mode;
  }

  get current(): AgentMode {
    return this.#mode;
  }

  /** The user wants nothing more of the turn. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  rule(act: ToolAct | undefined): Rule {
    const rule = act === undefined ? 'asked' : rules[this.#mode][act];
    return rule === 'asked' && act === 'edit' && this.#allowsEdits ? 'runs' : rule;
  }

  allowEdits(): void {
    this.#allowsEdits = true;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Questions that the mode answers are withdrawn. */
  change(mode: AgentMode): void {
    this.#mode = mode;
    for (const { act, isAskedAnyway, withdraw } of this.#questions) {
      const rule = this.rule(act);
      if (rule === 'refused' || (rule === 'runs' && !isAskedAnyway)) withdraw();
    }
  }

  /** The answer; undefined if the mode was changed meanwhile and answers the question. */
  async ask<T>(
    about: Omit<OpenQuestion, 'withdraw'>,
    signal: AbortSignal,
    question: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const linked = linkedSignal(signal);
    let isWithdrawn = false;
    const open: OpenQuestion = {
      ...about,
      withdraw() {
        isWithdrawn = true;
        linked.abort();
      },
    };
    this.#questions.add(open);
    try {
      const answer = await question(linked.signal);
      return isWithdrawn ? undefined : answer;
    } finally {
      this.#questions.delete(open);
      linked.unlink();
    }
  }
}

export type AgentModes = ReturnType<typeof createAgentModes>;

/** The modes of the turns that are running, by the `streamId` of their chats. */
export function createAgentModes() {
  const running = new Map<string, TurnMode>();
  return {
    async during<T>(streamId: string, mode: TurnMode, turn: () => Promise<T>): Promise<T> {
      running.set(streamId, mode);
      try {
        return await turn();
      } finally {
        running.delete(streamId);
      }
    },
    /** The chat may have ended meanwhile. */
    change: (streamId: string, mode: AgentMode): void => running.get(streamId)?.change(mode),
  };
}
