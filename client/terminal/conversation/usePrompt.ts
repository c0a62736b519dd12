import { count, showLine } from '../../../protocol/base/text.ts';
import {
  allowPromptsRequest,
  type FilledPrompt,
  type GetPromptResult,
  getPromptRequest,
  type PromptArgument,
  type PromptFolder,
} from '../../../protocol/messages/prompts.ts';
import type { PromptCall } from '../../shared/words.ts';
import { isYes } from '../cli/question.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import type { Output } from '../screen/output.ts';
import type { LineEditor } from './lineEditor.ts';

export interface PromptUse {
  readonly daemon: DaemonClient;
  readonly cwd: string;
  readonly editor: Pick<LineEditor, 'question'>;
  readonly stdout: Output;
  readonly signal: AbortSignal;
}

/**
 * The text of a prompt. The user is asked for what is missing, and once about a folder of the workspace. It is `none`
 * if there is no such prompt, and undefined if nothing is to be sent, which the user then knows.
 */
export async function usePrompt(
  { name, text }: PromptCall,
  asking: PromptUse,
): Promise<FilledPrompt | 'none' | undefined> {
  const { daemon, cwd, signal } = asking;
  const get = (given: { readonly text?: string; readonly values?: Readonly<Record<string, string>> }) =>
    daemon.request(getPromptRequest, { cwd, name, ...given }, signal);
  let found = await get({ text });
  if (found.kind === 'unasked') {
    if (!(await askAboutFolder(found.folder, asking))) return undefined;
    found = await get({ text });
  }
  if (found.kind === 'missing') {
    const values = await askForValues(found, asking);
    if (values === undefined) return undefined;
    found = await get({ values });
  }
  if (found.kind === 'prompt') {
    await sayWhoAnswers(found, asking.stdout);
    return found;
  }
  if (found.kind === 'none') return 'none';
  await asking.stdout.writeText(asking.stdout.style.red(showLine(found.message)));
  return undefined;
}

/** Whether its prompts count. Ctrl-C and Ctrl-D answer nothing, so the question comes again. */
async function askAboutFolder({ path, files }: PromptFolder, asking: PromptUse): Promise<boolean> {
  const { daemon, cwd, editor, stdout, signal } = asking;
  await stdout.writeText(
    `${showLine(path)} has ${count(files, 'prompt')}, written by whoever wrote this workspace. What they say would go to the model as if you had typed it.`,
  );
  const answer = await editor.question('Use the prompts of this folder from now on? [y/N] ', signal);
  if (answer === undefined) return false;
  const allowed = isYes(answer);
  await daemon.request(allowPromptsRequest, { cwd, allowed });
  if (!allowed)
    await stdout.writeAside('They do not count. "runner prompts allow", typed here, allows them later.');
  return allowed;
}

/** Undefined after Ctrl-C or Ctrl-D. */
async function askForValues(
  { missing, values }: Extract<GetPromptResult, { readonly kind: 'missing' }>,
  { editor, stdout, signal }: PromptUse,
): Promise<Readonly<Record<string, string>> | undefined> {
  const given = new Map(Object.entries(values));
  for (const argument of missing) {
    const value = await askForValue(argument, editor, signal);
    if (value === undefined) {
      await stdout.writeAside('Nothing was sent.');
      return undefined;
    }
    given.set(argument.name, value);
  }
  return Object.fromEntries(given);
}

async function askForValue(
  { name, description }: PromptArgument,
  editor: PromptUse['editor'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const about = description === undefined ? '' : ` (${showLine(description)})`;
  for (;;) {
    const value = (await editor.question(`${name}${about}: `, signal))?.trim();
    if (value !== '') return value;
  }
}

/** What a prompt changes for its turn. */
async function sayWhoAnswers({ name, model, tools }: FilledPrompt, stdout: Output): Promise<void> {
  if (model === undefined && tools === undefined) return;
  const to = model === undefined ? '' : ` to ${showLine(model)}`;
  const named =
    tools?.length === 0 ? ' without tools' : ` with the tools of ${tools?.map(showLine).join(', ')}`;
  const using = tools === undefined ? '' : named;
  await stdout.writeAside(`The prompt /${showLine(name)} goes${to}${using}.`);
}
