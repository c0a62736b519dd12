import type { ClientCapabilities, ElicitationPropertySchema } from '@agentclientprotocol/sdk';
import { showLine } from '../../protocol/base/controlCharacters.ts';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { ElicitField, ElicitParams } from '../../protocol/messages/elicit.ts';
import { validate } from '../base/validate.ts';
import type { AskElicitation, ElicitMode } from '../chat/daemonTools.ts';
import { elicitSchema } from '../tools/serveTools.ts';
import type { PromptClient } from './client.ts';

/** How the client has said that it asks its user. */
export function elicitModesOf(capabilities: ClientCapabilities | undefined): readonly ElicitMode[] {
  return (['form', 'url'] as const).filter((mode) => Boolean(capabilities?.elicitation?.[mode]));
}

interface ElicitationDependencies extends Pick<PromptClient, 'elicit'> {
  /** A new id for a page that the user is to open. */
  readonly createId: () => string;
}

/** Asks through the client's own form, or lets it offer an address. The daemon checks what the user answers. */
export function createAskElicitation(
  sessionId: string,
  { elicit, createId }: ElicitationDependencies,
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
