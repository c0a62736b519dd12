import type {
  ClientCapabilities,
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationPropertySchema,
  FileSystemCapabilities,
  PermissionOption,
  ReadTextFileRequest,
  ReadTextFileResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { showLine } from '../../protocol/base/text.ts';
import type { FileDiff } from '../../protocol/messages/chat.ts';
import type { ElicitField, ElicitParams } from '../../protocol/messages/elicit.ts';
import type { ToolDecision } from '../../protocol/messages/tools.ts';
import { validate } from '../base/validate.ts';
import type { AskApproval, AskElicitation, ElicitMode } from '../chat/daemonTools.ts';
import type { EditorFiles } from '../tools/builtin/fileStore.ts';
import { elicitSchema } from '../tools/serveTools.ts';
import { askedCall } from './toolCallUpdates.ts';

/**
 * Sends an update of a session. Settles when it was written, which is the back-pressure; rejects when the client is
 * gone.
 */
export type Update = (sessionId: string, update: SessionUpdate) => Promise<void>;

/** The client, as long as it waits for the answer to one request. */
export interface Client {
  readonly update: Update;
  readonly signal: AbortSignal;
}

/**
 * The client that has sent a prompt: it can be asked whether a tool may run, what a tool server wants to know, and for
 * its files.
 */
export interface PromptClient extends Client {
  readonly readTextFile: (file: ReadTextFileRequest) => Promise<ReadTextFileResponse>;
  readonly writeTextFile: (file: WriteTextFileRequest) => Promise<unknown>;
  readonly askPermission: (question: RequestPermissionRequest) => Promise<RequestPermissionResponse>;
  /** An aborted signal withdraws the question. */
  readonly elicit: (
    question: CreateElicitationRequest,
    signal: AbortSignal,
  ) => Promise<CreateElicitationResponse>;
}

/** `always` holds beyond the session, until the tool changes; `answer` is for edits alone. */
const permissionOptions = [
  { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
  { optionId: 'answer', kind: 'allow_always', name: 'Allow all edits of this answer' },
  { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
  { optionId: 'deny', kind: 'reject_once', name: 'Deny' },
] as const satisfies readonly (PermissionOption & { readonly optionId: ToolDecision })[];

/**
 * Asks the user through the client. A cancelled question, or an answer that is none of the options, is a denial.
 * `onDidShow` is called if the question shows what the call would change.
 */
export function createAskApproval(
  sessionId: string,
  { askPermission }: Pick<PromptClient, 'askPermission'>,
  onDidShow: (callId: string, diff: FileDiff) => void,
): AskApproval {
  return async (question, _signal, tool) => {
    const { toolCall, decisions, diff } = question;
    if (diff) onDidShow(toolCall.id, diff);
    const { outcome } = await askPermission({
      sessionId,
      toolCall: askedCall(question, tool),
      options: permissionOptions.filter(
        ({ optionId }) => decisions?.includes(optionId) ?? optionId !== 'answer',
      ),
    });
    const chosen = outcome.outcome === 'selected' ? outcome.optionId : 'deny';
    return { decision: permissionOptions.find(({ optionId }) => optionId === chosen)?.optionId ?? 'deny' };
  };
}

/** The file system of the editor for a session, as far as the editor has announced one. */
export function editorFilesOf(
  sessionId: string,
  { readTextFile, writeTextFile }: Pick<PromptClient, 'readTextFile' | 'writeTextFile'>,
  capabilities: FileSystemCapabilities | undefined,
): EditorFiles {
  return {
    ...(capabilities?.readTextFile === true
      ? { read: async (path) => (await readTextFile({ sessionId, path })).content }
      : {}),
    ...(capabilities?.writeTextFile === true
      ? { write: async (path, content) => void (await writeTextFile({ sessionId, path, content })) }
      : {}),
  };
}

/** How the client has said that it asks its user. */
export function elicitModesOf(capabilities: ClientCapabilities | undefined): readonly ElicitMode[] {
  return (['form', 'url'] as const).filter((mode) => Boolean(capabilities?.elicitation?.[mode]));
}

/**
 * Asks through the client's own form, or lets it offer an address, to which `createId` gives an id. The daemon checks
 * what the user answers.
 */
export function createAskElicitation(
  sessionId: string,
  { elicit }: Pick<PromptClient, 'elicit'>,
  createId: () => string,
): AskElicitation {
  return async (question, signal, toolCallId) => {
    const asked = { sessionId, toolCallId, message: messageOf(question) };
    const { url } = question;
    const response = await elicit(
      url === undefined
        ? { ...asked, mode: 'form', requestedSchema: schemaOf(question.fields) }
        : { ...asked, mode: 'url', elicitationId: createId(), url },
      signal,
    );
    const { action, content } = { content: undefined, ...response };
    return validate(elicitSchema, withoutUndefined({ action, content: content ?? undefined }));
  };
}

/** Every line of the server is quoted, so that none of them passes for one of Runner. */
function messageOf({ server, message, problem, warning, url, host = '' }: ElicitParams): string {
  const name = showLine(server);
  const quoted = message.split('\n').map((line) => `> ${line}`);
  const intro =
    url === undefined
      ? `The tool server ${name} asks you:`
      : `The tool server ${name} asks you to open a page of ${showLine(host)} in your browser:`;
  return [problem, intro, quoted.join('\n'), warning].filter((part) => part !== undefined).join('\n\n');
}

function schemaOf(fields: readonly ElicitField[]) {
  return {
    type: 'object' as const,
    properties: Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)])),
    required: fields.flatMap(({ name, required }) => (required ? [name] : [])),
  };
}

function propertyOf(field: ElicitField): ElicitationPropertySchema {
  const { title, description, format, options = [], default: usual } = field;
  const named = options.map((option) => ({ const: option.value, title: option.title }));
  const kinds = {
    text: { type: 'string', format },
    number: { type: 'number' },
    integer: { type: 'integer', default: Number.isSafeInteger(usual) ? usual : undefined },
    boolean: { type: 'boolean' },
    choice: { type: 'string', oneOf: named },
    choices: { type: 'array', items: { anyOf: named } },
  } as const;
  // A default is of the field's type: the form was checked, except that it may be no whole number.
  const property = { title, description, default: usual, ...kinds[field.type] };
  return withoutUndefined(property) as ElicitationPropertySchema;
}
