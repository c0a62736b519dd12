import * as z from 'zod/mini';
import type { ProgressToken, RequestMessage } from '../../protocol/messages/messageTypes.ts';
import { InvalidParamsError } from '../base/errors.ts';
import { exact, type Schema, validate } from '../base/validate.ts';
import type { Endpoint } from './endpoint.ts';

/** The commands that the editor may execute, by their identifiers. */
export type Commands = readonly (readonly [id: string, command: Command])[];

interface ExecuteCommandParams {
  readonly command: string;
  readonly arguments?: readonly unknown[];
  readonly workDoneToken?: ProgressToken;
}

type Command = (params: ExecuteCommandParams, signal: AbortSignal) => Promise<unknown>;

const executeCommandRequest: RequestMessage<ExecuteCommandParams, unknown> = {
  method: 'workspace/executeCommand',
};
const executeCommandSchema: Schema<ExecuteCommandParams> = exact(
  z.object({
    command: z.string(),
    arguments: z.exactOptional(z.array(z.unknown())),
    workDoneToken: z.exactOptional(z.union([z.string(), z.number()])),
  }),
);

export function serveCommands(endpoint: Endpoint, commands: Commands): void {
  const byId = new Map(commands);
  endpoint.onRequest(executeCommandRequest, executeCommandSchema, (params, signal) => {
    const command = byId.get(params.command);
    if (!command) throw new InvalidParamsError('command', `there is no command "${params.command}"`);
    return command(params, signal);
  });
}

/** Makes a command of a request. Its one argument holds the parameters of the request. */
export function commandOf<P extends object>(
  id: string,
  schema: Schema<P>,
  answer: (params: P, signal: AbortSignal) => Promise<unknown>,
): readonly [string, Command] {
  return [
    id,
    ({ arguments: [argument] = [], workDoneToken }, signal) => {
      const params = validate(schema, argument, 'arguments[0]');
      return answer(workDoneToken === undefined ? params : { ...params, workDoneToken }, signal);
    },
  ];
}
