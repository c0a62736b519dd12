import type { SessionConfigOption, SessionModeState, SessionUpdate } from '@agentclientprotocol/sdk';
import { type AgentMode, agentModes } from '../../protocol/messages/chat.ts';
import { InvalidParamsError } from '../base/errors.ts';
import type { AgentModes } from '../chat/agentMode.ts';
import type { Client } from './client.ts';
import type { AcpSession } from './sessions.ts';
import type { SessionTools } from './sessionTools.ts';

/** The `configId` of the picker. Older editors know modes as such. */
export const modePicker = 'mode';

const descriptions: Readonly<Record<AgentMode, { readonly name: string; readonly description: string }>> = {
  read: { name: 'Read', description: 'Reads files, and changes nothing' },
  ask: { name: 'Ask', description: 'You are asked before each edit and each check' },
  edit: { name: 'Edit', description: 'Edits without a question; you are asked before each check' },
  auto: { name: 'Auto', description: 'Reads, edits and runs checks without a question' },
};

/** Undefined if the built-in tools are off. */
export function modesOf({ mode }: Pick<AcpSession, 'mode'>): SessionModeState | undefined {
  if (mode === undefined) return undefined;
  return { currentModeId: mode, availableModes: agentModes.map((id) => ({ id, ...descriptions[id] })) };
}

export function modeOption({ mode }: Pick<AcpSession, 'mode'>): readonly SessionConfigOption[] {
  if (mode === undefined) return [];
  const options = agentModes.map((value) => ({ value, ...descriptions[value] }));
  return [
    {
      ...{ id: modePicker, name: 'Mode', category: 'mode', type: 'select', currentValue: mode, options },
      description: 'What the model may do with files without a question.',
    },
  ];
}

/** What to say about the mode that counts now. */
export function describeMode(mode: AgentMode): string {
  const { name, description } = descriptions[mode];
  return `The mode is ${name}: ${description.charAt(0).toLowerCase()}${description.slice(1)}.`;
}

interface ModeChanges {
  readonly tools: SessionTools;
  readonly modes: AgentModes;
  /** The pickers of the session, as they are sent. */
  readonly pickers: (session: AcpSession) => SessionConfigOption[];
}

interface ModeChoice extends Client {
  /** How the user has chosen it. */
  readonly by: 'mode' | 'option' | 'command';
}

/** Changes the mode of a session, also during its turn, wherever its user has chosen it. */
export function createChangeMode({ tools, modes, pickers }: ModeChanges) {
  /** @throws {Error} if it is none, or is not possible here. */
  return async (session: AcpSession, value: unknown, { update, signal, by }: ModeChoice): Promise<void> => {
    const mode = agentModes.find((one) => one === value);
    if (mode === undefined || session.mode === undefined)
      throw new InvalidParamsError('modeId', `there is no mode "${String(value)}"`);
    await tools.run(session.id, (running) => running.requireMode(mode, signal));
    session.mode = mode;
    modes.change(session.id, mode);
    const send = (next: SessionUpdate) => update(session.id, next);
    // The client knows the change that it has made.
    if (by !== 'mode') await send({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    if (by !== 'option')
      await send({ sessionUpdate: 'config_option_update', configOptions: pickers(session) });
  };
}
