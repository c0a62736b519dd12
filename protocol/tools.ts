import type { NotificationMessage } from './messageTypes.ts';

/** A model that refused tools: it is offered none for the rest of the editor's session. */
export interface ToolRefusal {
  /** The address of its server. */
  readonly url: string;
  readonly model: string;
  /** The digest that it had: with another one it is another model, and the refusal is forgotten. */
  readonly digest?: string;
}

export interface ToolRefusals {
  readonly refusals: readonly ToolRefusal[];
}

/**
 * Daemon to client: all refusals that hold in this session, whenever they change. A client that starts another daemon
 * in the same session hands them on, as `refusedTools` of `initializationOptions`.
 */
export const toolsDidRefuse: NotificationMessage<ToolRefusals> = { method: 'runner/tools/didRefuse' };
