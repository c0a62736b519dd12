import { count, showLine } from '../../../protocol/base/text.ts';
import {
  allowPromptsRequest,
  type ListPromptsResult,
  listPromptsRequest,
  type Prompt,
  type PromptFolder,
} from '../../../protocol/messages/prompts.ts';
import { usageOf } from '../../shared/words.ts';
import type { CommandContext } from '../cli/command.ts';
import { usageError } from '../cli/failure.ts';
import { shortPath, type Terminal } from '../cli/terminal.ts';
import { commandNames } from '../conversation/slashCommands.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { formatTable } from '../screen/columns.ts';

/** The words that change whether the prompts of this folder count. */
export const promptWords: readonly string[] = ['allow', 'refuse'];

/** Lists the prompts of files and of tool servers, or answers the question about those of this folder. */
export async function runPrompts(context: CommandContext): Promise<number> {
  const [word] = context.commandLine.words;
  if (word !== undefined && !promptWords.includes(word))
    throw usageError(
      `Say "runner prompts" for the list, and "runner prompts allow" or "runner prompts refuse" for the prompts of this folder; not "${word}".`,
    );
  return withDaemon(context, {}, (daemon) =>
    word === undefined ? list(context, daemon) : answer(context, daemon, word === 'allow'),
  );
}

/** Returns 1 if one of them cannot be used. */
async function list({ terminal, commandLine }: CommandContext, daemon: DaemonClient): Promise<number> {
  const { cwd, stdout } = terminal;
  const listed = await daemon.request(listPromptsRequest, { cwd, commands: commandNames, wait: true });
  const { prompts, folder, problems } = listed;
  if (commandLine.json) {
    for (const prompt of prompts) await stdout.writeJson(prompt);
    if (folder) await stdout.writeJson({ folder });
    for (const problem of problems) await stdout.writeJson({ problem });
  } else await show(terminal, listed);
  return problems.length > 0 || prompts.some(({ problem }) => problem !== undefined) ? 1 : 0;
}

async function show(terminal: Terminal, { prompts, folder, problems }: ListPromptsResult): Promise<void> {
  const { stdout, stderr } = terminal;
  const usable = prompts.filter(({ problem }) => problem === undefined);
  const columns = ['PROMPT', 'FROM', { title: 'ABOUT', isFlexible: true }];
  if (usable.length > 0) await stdout.write(formatTable(columns, usable.map(rowOf), stdout));
  for (const { path = '', line, problem = '' } of prompts.filter((prompt) => !usable.includes(prompt))) {
    const place = line === undefined ? shortPath(terminal, path) : `${shortPath(terminal, path)}:${line}`;
    await stdout.writeText(`${stdout.style.yellow(place)}: ${showLine(problem)}`);
  }
  for (const problem of problems) await stdout.writeWarning(showLine(problem));
  if (folder && folder.state !== 'allowed') await stdout.writeText(sentenceAbout(folder, terminal));
  else if (prompts.length === 0)
    await stderr.writeText(
      'There is no prompt yet. Write one as a Markdown file, such as ~/.config/runner/prompts/review.md: then /review sends its text.',
    );
}

function rowOf(prompt: Prompt): readonly string[] {
  const { from, name, description, hiddenBy } = prompt;
  const about =
    hiddenBy === undefined
      ? showLine(description)
      : hiddenBy === 'command'
        ? `hidden: /${name} is a command`
        : `hidden: another prompt has this name`;
  return [showLine(usageOf(prompt)), from === 'user' ? 'you' : from, about];
}

function sentenceAbout({ path, state, files }: PromptFolder, terminal: Terminal): string {
  const has = `${shortPath(terminal, path)} has ${count(files, 'prompt')} of this workspace.`;
  if (state === 'refused') return `${has} You refused them; "runner prompts allow" allows them.`;
  return `${has} They count once you have typed "runner prompts allow".`;
}

async function answer(
  { terminal, commandLine }: CommandContext,
  daemon: DaemonClient,
  allowed: boolean,
): Promise<number> {
  const { stdout, cwd } = terminal;
  const { folder } = await daemon.request(allowPromptsRequest, { cwd, allowed });
  if (!folder) throw usageError('This folder has no prompts of its own: there is no .runner/prompts here.');
  if (commandLine.json) await stdout.writeJson({ event: 'done', folder });
  else
    await stdout.writeText(
      `The prompts of ${shortPath(terminal, folder.path)} ${allowed ? 'count from now on, in every client' : 'do not count'}.`,
    );
  return 0;
}
