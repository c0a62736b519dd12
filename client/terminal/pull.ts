import { pullModelRequest } from '../../protocol/models.ts';
import type { CommandLine } from './commandLine.ts';
import { withDaemon } from './connection.ts';
import type { Surroundings } from './streams.ts';
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
