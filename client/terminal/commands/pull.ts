import { pullModelRequest } from '../../../protocol/messages/models.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import type { Surroundings } from '../cli/streams.ts';
import { withDaemon } from '../daemon/connection.ts';
import { runWork } from './work.ts';

/** Downloads a model. */
export async function pullModel(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const [model = ''] = commandLine.words;
  return withDaemon(surroundings, { commandLine }, (daemon) =>
    runWork(surroundings, daemon, {
      request: pullModelRequest,
      params: { model },
      json: commandLine.json,
      done: 'Pulled',
      stopped: 'Stopped. What was downloaded is kept; pulling again goes on from there.',
    }),
  );
}
