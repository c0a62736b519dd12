import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { ToolRefusal } from '../../protocol/messages/tools.ts';
import { createEmitter, type Event } from '../base/event.ts';
import type { ModelKnowledge } from './knowledge.ts';
import type { RefusedModel, ToolSupport } from './toolSupport.ts';

/** The models that refuse tools. They are passed from one daemon of the editor's session to the next. */
export interface ToolRefusals {
  /** All refusals, whenever one is added or removed. */
  readonly onDidChange: Event<readonly ToolRefusal[]>;
  /** Restores what an earlier daemon of the session learnt. */
  restore(refusals: readonly ToolRefusal[]): void;
}

export interface ToolRefusalsOptions {
  readonly toolSupport: ToolSupport;
  readonly knowledge: ModelKnowledge;
}

export function createToolRefusals({ toolSupport, knowledge }: ToolRefusalsOptions): ToolRefusals {
  const changed = createEmitter<readonly ToolRefusal[]>();
  const toRefusal = ({ server, model }: RefusedModel): ToolRefusal => {
    const digest = knowledge.digest(server, model);
    return withoutUndefined({ url: server.url, model, digest });
  };
  const publish = () => changed.fire(toolSupport.refused.map(toRefusal));

  toolSupport.onDidDecide(({ server, model, works }) => {
    knowledge.observe(server, model, { capability: 'tools', value: works });
    if (!works) publish();
  });
  knowledge.onDidReplace((id) => {
    if (toolSupport.forget(id)) publish();
  });

  return {
    onDidChange: changed.event,
    restore(refusals) {
      for (const { url, model, digest } of refusals) {
        const server = { name: url, url };
        if (digest !== undefined) knowledge.learnDigest(server, model, digest);
        toolSupport.refuse(server, model);
        knowledge.observe(server, model, { capability: 'tools', value: false });
      }
    },
  };
}
