import { formatBytes } from '../../../protocol/base/bytes.ts';
import { deleteModelRequest, listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { TerminalError } from '../cli/failure.ts';
import { type Surroundings, writeLine } from '../cli/streams.ts';
import { askYesNo } from '../conversation/askYesNo.ts';
import { chooseModel, findModel, orNearModels } from '../conversation/chooseModel.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { showLine } from '../screen/controlCharacters.ts';

/**
 * Deletes a model once the user has agreed.
 * @throws {TerminalError} of the kind `usage`, where nobody can be asked.
 */
export async function removeModel(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const [named = ''] = commandLine.words;
  const { yes, json } = commandLine;
  if (!yes && !canAsk(surroundings, commandLine))
    throw new TerminalError(
      'usage',
      '"runner rm" asks before it deletes, and there is no terminal to ask on. With --yes it does not ask.',
    );
  return withDaemon(surroundings, { commandLine }, async (daemon) => {
    if (yes) {
      // What runs is left to the daemon to refuse: nobody has agreed to stop it.
      await orNearModels(daemon, named, daemon.request(deleteModelRequest, { model: named }));
      return tellDone(surroundings, named, json);
    }
    const model = await findInstalled(daemon, named);
    const answer = await askWhether(surroundings, model);
    if (answer !== 'yes') {
      await writeLine(surroundings.stderr, 'Nothing was deleted.');
      return answer === 'no' ? 1 : 130;
    }
    const stop = model.running ? { stop: true } : {};
    await daemon.request(deleteModelRequest, { model: model.name, ...stop });
    return tellDone(surroundings, model.name, json);
  });
}

function canAsk({ stdin, stderr }: Surroundings, { json }: CommandLine): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && !json;
}

async function tellDone({ stdout }: Surroundings, model: string, json: boolean): Promise<number> {
  await writeLine(stdout, json ? JSON.stringify({ event: 'done', model }) : `${showLine(model)} is deleted.`);
  return 0;
}

type Known = Pick<Model, 'name' | 'size' | 'running'>;

/** @throws {TerminalError} with near names, where it is not there. */
async function findInstalled(daemon: Daemon, named: string): Promise<Known> {
  const { models } = await daemon.request(listModelsRequest, { refresh: true });
  const found = findModel(models, named);
  return typeof found === 'string' ? { name: await chooseModel(daemon, named) } : found;
}

async function askWhether(
  surroundings: Surroundings,
  { name, size, running }: Known,
): Promise<'yes' | 'no' | 'interrupted'> {
  if (running) await writeLine(surroundings.stderr, 'It is loaded and will be stopped.');
  const bytes = size === undefined ? '' : ` (${formatBytes(size)})`;
  return askYesNo(surroundings, `Delete ${showLine(name)}${bytes}? [y/N] `);
}
