import type { AvailableCommand, PermissionOption, SessionUpdate, ToolCall } from '@agentclientprotocol/sdk';
import { count } from '../../protocol/base/text.ts';
import type { Message } from '../../protocol/messages/chat.ts';
import type { FilledPrompt, Prompt, PromptFolder } from '../../protocol/messages/prompts.ts';
import type { SuggestedCheck } from '../../protocol/messages/tools.ts';
import type { Core } from '../compose/core.ts';
import type { PromptPlace } from '../prompts/prompts.ts';
import type { AskableServer } from '../tools/toolServer.ts';
import type { PromptClient } from './client.ts';

/** A message that calls no prompt stays as it is. `said` is for the user: nothing is sent then. */
export type PromptLookup =
  | { readonly kind: 'message'; readonly message: Message; readonly prompt?: FilledPrompt }
  | { readonly kind: 'said'; readonly message: string };

interface PromptCall extends Omit<PromptPlace, 'root'> {
  readonly sessionId: string;
  /** Whether the prompts of this folder count from now on; undefined if the user gave no answer. */
  readonly askAboutFolder: (folder: PromptFolder) => Promise<boolean | undefined>;
}

interface SessionPromptsOptions extends Pick<Core, 'prompts' | 'log'> {
  /** The agent's own commands. No prompt has their names. */
  readonly own: readonly AvailableCommand[];
  /** The tool servers that the session has used so far. A list starts none. */
  readonly usedServers: (sessionId: string) => Promise<readonly AskableServer[]>;
  readonly closed: AbortSignal;
}

/** The prompts that people keep as files, and those of tool servers, as the commands of a session. */
export function createSessionPrompts({ prompts, log, own, usedServers, closed }: SessionPromptsOptions) {
  const known = new Map<string, { readonly root: string; sent: string }>();
  const requireNothing = async () => undefined;
  return {
    /** The session was opened in this folder. */
    set(sessionId: string, cwd: string): void {
      known.set(sessionId, { root: cwd, sent: '[]' });
    },
    remove: (sessionId: string) => void known.delete(sessionId),

    /** Sends the commands of the session if they have changed. */
    async announce(sessionId: string, update: (update: SessionUpdate) => Promise<void>): Promise<void> {
      const session = known.get(sessionId);
      if (!session) return;
      try {
        const store = await prompts();
        const place = { root: session.root, requireTools: requireNothing, isLazy: true, signal: closed };
        const asked = own.length === 0 ? {} : { commands: own.map(({ name }) => name) };
        const listed = await store.list(asked, { ...place, servers: () => usedServers(sessionId) });
        const availableCommands = [...own, ...listed.prompts.filter(isUsable).map(toCommand)];
        const text = JSON.stringify(availableCommands);
        if (session.sent === text || known.get(sessionId) !== session) return;
        session.sent = text;
        await update({ sessionUpdate: 'available_commands_update', availableCommands });
      } catch (error) {
        log.debug(`The prompts were not announced: ${String(error)}`);
      }
    },

    /** What is sent for a message that may call a prompt. The user may be asked about the folder of the workspace. */
    async find(message: Message, { sessionId, askAboutFolder, ...call }: PromptCall): Promise<PromptLookup> {
      const [, name, text = ''] = /^\/([^\s/]+)(?:\s+(.*))?$/s.exec(message.content) ?? [];
      if (name === undefined) return { kind: 'message', message };
      const store = await prompts();
      const place = { root: known.get(sessionId)?.root, ...call };
      let found = await store.get({ name, text }, place);
      if (found.kind === 'unasked') {
        const allowed = await askAboutFolder(found.folder);
        if (allowed !== undefined) {
          await store.allow({ allowed }, place);
          found = await store.get({ name, text }, place);
        }
      }
      if (found.kind === 'none') return { kind: 'message', message };
      if (found.kind !== 'prompt') return { kind: 'said', message: found.message };
      const images = [...(message.images ?? []), ...(found.images ?? [])];
      const sent = { ...message, content: found.text, ...(images.length === 0 ? {} : { images }) };
      return { kind: 'message', message: sent, prompt: found };
    },
  };
}

function isUsable({ problem, hiddenBy }: Prompt): boolean {
  return problem === undefined && hiddenBy === undefined;
}

const usualDescriptions: Readonly<Record<Prompt['from'], string>> = {
  user: 'A prompt of yours',
  workspace: 'A prompt of the workspace',
  server: 'A prompt of a tool server',
};

function toCommand({ name, description, from, arguments: given }: Prompt): AvailableCommand {
  const words = given.map((argument) => (argument.required ? argument.name : `[${argument.name}]`));
  return {
    name,
    description: description || usualDescriptions[from],
    ...(words.length === 0 ? {} : { input: { hint: words.join(' ') } }),
  };
}

/** Both answers are kept, so that the question comes once. */
const folderOptions = [
  { optionId: 'allow', kind: 'allow_always', name: 'Use them from now on' },
  { optionId: 'refuse', kind: 'reject_always', name: 'Never use them' },
] as const;

export interface UserQuestion {
  readonly sessionId: string;
  /** For the call as which the client shows the question. */
  readonly createId: () => string;
  readonly client: Pick<PromptClient, 'update' | 'askPermission'>;
}

/** The protocol knows questions about calls of tools only, so the folder is shown as one. */
export function createAskAboutFolder({
  sessionId,
  createId,
  client,
}: UserQuestion): PromptCall['askAboutFolder'] {
  return ({ path, files }) => {
    const title = `Use the ${files === 1 ? 'prompt' : count(files, 'prompt')} of this workspace, in ${path}`;
    const about = { title, kind: 'read' as const, locations: [{ path }] };
    return askAsCall({ sessionId, createId, client }, about, folderOptions);
  };
}

/** Whether models may run a command that a file of the project suggests. */
export async function askAboutCheck(
  question: UserQuestion,
  { command, file }: SuggestedCheck,
): Promise<boolean> {
  const title = `Let models run ${command.join(' ')} here, until ${file} changes`;
  return (await askAsCall(question, { title, kind: 'execute' }, checkOptions)) === true;
}

const checkOptions = [
  { optionId: 'allow', kind: 'allow_always', name: 'Let them' },
  { optionId: 'refuse', kind: 'reject_once', name: 'Do not' },
] as const;

/** Shows a question as that about a call. Undefined if the user gave no answer. */
async function askAsCall(
  { sessionId, createId, client }: UserQuestion,
  about: Pick<ToolCall, 'kind' | 'locations' | 'title'>,
  options: readonly (PermissionOption & { readonly optionId: 'allow' | 'refuse' })[],
): Promise<boolean | undefined> {
  const toolCallId = createId();
  const call = { toolCallId, ...about };
  await client.update(sessionId, { sessionUpdate: 'tool_call', status: 'pending', ...call });
  const { outcome } = await client.askPermission({ sessionId, toolCall: call, options: [...options] });
  const chosen = outcome.outcome === 'selected' ? outcome.optionId : undefined;
  const allowed = chosen === 'allow' ? true : chosen === 'refuse' ? false : undefined;
  const status = allowed ? 'completed' : 'failed';
  await client.update(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status });
  return allowed;
}
