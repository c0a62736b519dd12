import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { describeFound, type FoundRunner, setHostRequest } from '../../../protocol/messages/status.ts';
import { failureOf } from '../cli/failure.ts';
import { askLine, isYes } from '../cli/question.ts';
import { ForceQuitError } from '../cli/signals.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { DaemonClient } from './daemon.ts';

/**
 * Says what is wrong with the usual runner, and asks whether to use one of these from now on. Its address then is in
 * the user's configuration. Returns it; undefined without a yes.
 * @throws {ForceQuitError} after Ctrl-C.
 */
export async function chooseFound(
  terminal: Terminal,
  daemon: DaemonClient,
  { runners, problem }: { readonly runners: readonly FoundRunner[]; readonly problem: string },
): Promise<string | undefined> {
  const { stderr } = terminal;
  if (runners.length === 0) return undefined;
  await stderr.writeText(problem);
  const isOne = runners.length === 1;
  for (const [index, runner] of runners.entries())
    await stderr.writeText(`${isOne ? '' : `${index + 1}  `}${showLine(describeFound(runner))}`);
  const question = isOne ? 'Use it from now on? [y/N] ' : `Use one from now on? [1-${runners.length}, N] `;
  const answer = await askLine(terminal, question);
  if (answer === undefined) throw new ForceQuitError();
  const chosen = chosenOf(runners, answer);
  if (chosen) await keep(terminal, daemon, chosen.url);
  return chosen?.url;
}

function chosenOf(runners: readonly FoundRunner[], answer: string): FoundRunner | undefined {
  return runners.length === 1 ? (isYes(answer) ? runners[0] : undefined) : runners[Number(answer) - 1];
}

/** If it cannot be kept, it is used this once. */
async function keep({ stderr }: Terminal, daemon: DaemonClient, url: string): Promise<void> {
  try {
    const { path } = await daemon.request(setHostRequest, { url });
    await stderr.writeText(stderr.style.dim(`"host" is set in ${showLine(path)}.`));
  } catch (error) {
    await stderr.writeText(stderr.style.yellow(failureOf(error).message));
  }
}
