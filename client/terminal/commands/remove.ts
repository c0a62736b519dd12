import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { refusalOf } from '../../../protocol/messages/abilities.ts';
import { deleteModelRequest } from '../../../protocol/messages/models.ts';
import { statusRequest } from '../../../protocol/messages/status.ts';
import type { CommandContext } from '../cli/command.ts';
import { TerminalError } from '../cli/failure.ts';
import { confirmDeletion } from '../cli/question.ts';
import { canAsk, type Terminal } from '../cli/terminal.ts';
import { findInstalled, orNearModels } from '../conversation/chooseModel.ts';
import { withDaemon } from '../daemon/connection.ts';

/**
 * Deletes a model once the user has agreed.
 * @throws {TerminalError} of the kind `usage`, if nobody can be asked.
 */
export async function removeModel(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const [named = ''] = commandLine.words;
  const { yes, json } = commandLine;
  if (!yes && (json || !canAsk(terminal)))
    throw new TerminalError(
      'usage',
      '"runner rm" asks before it deletes, and there is no terminal to ask on. With --yes it does not ask.',
    );
  return withDaemon(context, {}, async (daemon) => {
    if (yes) {
      // The daemon refuses to delete a running model: nobody has agreed to stop it.
      await orNearModels(daemon, named, daemon.request(deleteModelRequest, { model: named }));
      return reportDone(terminal, named, json);
    }
    const { name, server, size, running } = await findInstalled(daemon, named);
    const { product, can } = await daemon.request(statusRequest, server === undefined ? {} : { server });
    // Nobody is asked about what the server then refuses.
    if (product !== undefined && can?.includes('delete') === false)
      throw new TerminalError('not-supported', refusalOf(product, 'delete'));
    if (running) await terminal.stderr.writeLine('It is loaded and will be stopped.');
    const bytes = size === undefined ? '' : ` (${formatBytes(size)})`;
    const refusal = await confirmDeletion(terminal, `Delete ${showLine(name)}${bytes}? [y/N] `);
    if (refusal !== undefined) return refusal;
    await daemon.request(deleteModelRequest, { model: name, ...(running ? { stop: true } : {}) });
    return reportDone(terminal, name, json);
  });
}

async function reportDone({ stdout }: Terminal, model: string, json: boolean): Promise<number> {
  await (json
    ? stdout.writeJson({ event: 'done', model })
    : stdout.writeLine(`${showLine(model)} is deleted.`));
  return 0;
}
