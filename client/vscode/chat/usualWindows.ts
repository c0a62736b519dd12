import type * as vscode from 'vscode';
import type { Model } from '../../../protocol/messages/models.ts';

/** How many tokens a server allocates to a model if nobody asks for a number: its most recent choice. */
export interface UsualWindows {
  /** Undefined until one of its models was seen loaded. */
  of(server: string): number | undefined;
  learn(models: readonly Model[]): void;
}

const memoryKey = 'runner.usualWindows';

export function createUsualWindows(memory: vscode.Memento): UsualWindows {
  let known = memory.get<Readonly<Record<string, number>>>(memoryKey) ?? {};
  return {
    of: (server) => known[server],
    learn(models) {
      const learnt = { ...known };
      for (const { server, context } of models) {
        const tokens = usualOf(context, learnt[server]);
        if (tokens !== undefined) learnt[server] = tokens;
      }
      if (JSON.stringify(learnt) === JSON.stringify(known)) return;
      known = learnt;
      void memory.update(memoryKey, known);
    },
  };
}

/** If a model gets its own maximum, that only shows that the server allocates at least as much. */
function usualOf(
  { allocated, configured, maximum }: Model['context'],
  before: number | undefined,
): number | undefined {
  if (allocated === undefined || configured !== undefined) return before;
  return allocated === maximum ? Math.max(allocated, before ?? 0) : allocated;
}
