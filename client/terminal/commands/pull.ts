import { pullModelRequest } from '../../../protocol/messages/models.ts';
import type { CommandContext } from '../cli/command.ts';
import { withDaemon } from '../daemon/connection.ts';
import { runWork } from './work.ts';

/** Downloads a model. */
export async function pullModel(context: CommandContext): Promise<number> {
  const [model = ''] = context.commandLine.words;
  return withDaemon(context, {}, (daemon) =>
    runWork(context, daemon, {
      request: pullModelRequest,
      params: { model },
      done: 'Pulled',
      stopped: 'Stopped. What was downloaded is kept; pulling again goes on from there.',
    }),
  );
}
