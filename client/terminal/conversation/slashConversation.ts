import { writeFile } from 'node:fs/promises';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { expandPath } from '../../../protocol/base/platform/folders.ts';
import { count, formatBytes, messageOf, showLine } from '../../../protocol/base/text.ts';
import type { Message } from '../../../protocol/messages/chat.ts';
import { readSessionRequest } from '../../../protocol/messages/sessions.ts';
import {
  type EditsResult,
  listEditsRequest,
  type RestoredEdits,
  redoEditsRequest,
  undoEditsRequest,
} from '../../../protocol/messages/tools.ts';
import { type TerminalError, usageError } from '../cli/failure.ts';
import { clipboardSequence } from '../cli/systemPrograms.ts';
import { describeDiff } from '../screen/tools.ts';
import type { Along } from './attachments.ts';
import { describeSession, titleOf } from './keptConversation.ts';
import type { OpenConversation } from './openConversation.ts';
import { pathOfWord, type SlashAction, type SlashResult } from './slashSettings.ts';

const nothing = 'There is no turn yet.';

/** What was said last; nothing before the first prompt. */
async function readLastTurn({
  session,
  daemon,
}: OpenConversation): Promise<{ readonly prompt?: Message; readonly answer?: string }> {
  if (!session) return {};
  const { messages } = await daemon.request(readSessionRequest, { id: session.id });
  return withoutUndefined({
    prompt: messages.findLast(({ role }) => role === 'user'),
    answer: messages.findLast(({ role, content }) => role === 'assistant' && content !== '')?.content,
  });
}

/** What the built-in tools have changed in the last turn; nothing if nothing is kept, or the tools are off. */
async function lastEdits({ session, daemon, terminal }: OpenConversation) {
  const { id = '', turns = 0 } = session ?? {};
  const params = { session: id, prompt: turns };
  const none: EditsResult = { files: [], count: 0 };
  const listing = turns > 0 ? daemon.request(listEditsRequest, params).catch(() => none) : none;
  const { files, count: all } = await listing;
  return {
    /** The change of each file, as the screen shows it. */
    changes: files.map((diff) => describeDiff(diff, terminal.stdout).text),
    /** Such as `3 edits in 2 files`; empty if there was none. */
    what: all === 0 ? '' : `${count(all, 'edit')} in ${count(files.length, 'file')}`,
    /** Returns what to say about it. */
    takeBack: async () =>
      describeRestored('Took back the edits of', await daemon.request(undoEditsRequest, params)),
  };
}

/** If the turn has changed files, the user says whether they are taken back too. */
export async function undoTurn(conversation: OpenConversation): Promise<SlashResult> {
  const { what, changes, takeBack } = await lastEdits(conversation);
  const undo = async () => {
    const prompt = await conversation.undo();
    return prompt ? `Took back "${beginningOf(prompt)}" and its answer.` : nothing;
  };
  const ask = (text: string): SlashAction => ({
    text,
    confirm: {
      question: `take back the prompt, and its ${what}? [y]es, [p]rompt only, [d]iff, [n]o `,
      async yes() {
        const files = await takeBack();
        return [await undo(), files, '"/redo" brings them back.'].join('\n');
      },
      others: new Map<string, () => Promise<SlashResult>>([
        ['prompt', undo],
        ['diff', async () => ask(changes.join('\n'))],
      ]),
      no: 'Nothing was taken back.',
    },
  });
  return what === '' ? undo() : ask('');
}

export async function showEdits(conversation: OpenConversation): Promise<string> {
  const { changes } = await lastEdits(conversation);
  if (changes.length === 0) return 'The last answer has changed nothing that could be taken back.';
  return `${changes.join('\n')}\n"/undo" takes them back.`;
}

/** Brings back the edits that were taken back last; their prompt stays away. */
export async function redoEdits({ session, daemon }: OpenConversation): Promise<string> {
  const restored = session && (await daemon.request(redoEditsRequest, { session: session.id }));
  if (!restored || restored.restored.length + restored.left.length === 0)
    return 'No edits of this conversation were taken back.';
  return describeRestored('Brought back the edits of', restored);
}

function describeRestored(done: string, { restored, left }: RestoredEdits): string {
  const lines = left.map(({ name, reason }) => `${showLine(name)} stays as it is: ${showLine(reason)}`);
  return [...(restored.length === 0 ? [] : [`${done} ${restored.map(showLine).join(', ')}.`]), ...lines].join(
    '\n',
  );
}

/** The old answer stays until the new one is whole. */
export async function retryTurn(conversation: OpenConversation): Promise<SlashResult> {
  const { prompt } = await readLastTurn(conversation);
  if (!prompt) return nothing;
  const text = `Asking again: ${beginningOf(prompt)}`;
  return withoutEdits(conversation, async () => ({ text, again: true }));
}

export async function editTurn(conversation: OpenConversation): Promise<SlashResult> {
  return withoutEdits(conversation, async () => {
    const edited = await conversation.undoToEdit();
    return edited ? { text: describeAlong(edited.attached), edit: edited.entry } : { text: nothing };
  });
}

/** Asks whether the edits of the last turn are taken back first. */
async function withoutEdits(
  conversation: OpenConversation,
  next: () => Promise<SlashAction>,
): Promise<SlashAction> {
  const { what, takeBack } = await lastEdits(conversation);
  if (what === '') return next();
  return {
    confirm: {
      question: `take back its ${what} first? [y]es, [k]eep, [n]o `,
      async yes() {
        const files = await takeBack();
        const { text, ...rest } = await next();
        return { ...rest, text: [files, text].filter(Boolean).join('\n') };
      },
      others: new Map([['keep', next]]),
      no: 'Nothing was done.',
    },
  };
}

/** Such as `Along with it: notes.md, 2 pictures.` */
function describeAlong({ attachments, images }: Along): string {
  const names = attachments.map(({ path }) => showLine(path));
  const along = [...names, ...(images.length === 0 ? [] : [count(images.length, 'picture')])];
  return along.length === 0 ? '' : `Along with it: ${along.join(', ')}.`;
}

export async function copyAnswer(conversation: OpenConversation, word: string): Promise<string> {
  const { answer } = await readLastTurn(conversation);
  if (answer === undefined) return nothing;
  if (word !== '' && !/^[1-9]\d{0,3}$/.test(word)) return 'Say "/copy", or "/copy 1" for a block of code.';
  const blocks = codeBlocksOf(answer);
  const text = word === '' ? answer : blocks[Number(word) - 1];
  if (text === undefined) {
    const there =
      blocks.length === 0 ? 'no block of code' : count(blocks.length, 'block of code', 'blocks of code');
    return `The answer has ${there}.`;
  }
  const what = `${word === '' ? 'the answer' : `block ${word}`}, ${formatBytes(Buffer.byteLength(text))}`;
  const { terminal, copyText } = conversation;
  // Over SSH, only the terminal has the user's clipboard.
  if (terminal.stdout.isRedrawable) await terminal.stdout.write(clipboardSequence(text));
  const isCopied = (await copyText?.(text)) ?? false;
  return isCopied
    ? `Copied ${what}.`
    : `Sent ${what}, to the terminal for its clipboard. Not every terminal takes it.`;
}

/** Writes the last answer into a file. One that is there already is asked about. */
export async function saveAnswer(conversation: OpenConversation, word: string): Promise<SlashResult> {
  const { cwd } = conversation;
  const path = pathOfWord(word);
  if (path === '') return 'Say where: /save FILE';
  const { answer } = await readLastTurn(conversation);
  if (answer === undefined) return nothing;
  const text = answer.endsWith('\n') ? answer : `${answer}\n`;
  const write = async (flag: 'w' | 'wx') => {
    await writeFile(expandPath(cwd, path), text, { flag });
    return `Saved the answer in ${showLine(path)}, ${formatBytes(Buffer.byteLength(text))}.`;
  };
  try {
    return await write('wx');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw notSaved(path, error);
    return {
      confirm: {
        question: `${showLine(path)} is there already. Overwrite it? [y]es, [n]o `,
        async yes() {
          try {
            return await write('w');
          } catch (cause) {
            throw notSaved(path, cause);
          }
        },
        no: 'Nothing was written.',
      },
    };
  }
}

function notSaved(path: string, cause: unknown): TerminalError {
  return usageError(`${showLine(path)} cannot be written: ${messageOf(cause)}.`, { cause });
}

/** The fenced blocks of code in Markdown, without their fences. One that is not closed goes to the end. */
function codeBlocksOf(markdown: string): readonly string[] {
  const blocks: string[] = [];
  let open: { readonly fence: string; readonly lines: string[] } | undefined;
  for (const line of markdown.split('\n')) {
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (open && fence.startsWith(open.fence) && line.trim() === fence) {
      blocks.push(open.lines.join('\n'));
      open = undefined;
    } else if (open) open.lines.push(line);
    else if (fence !== '') open = { fence, lines: [] };
  }
  return open ? [...blocks, open.lines.join('\n')] : blocks;
}

/** The first words of a prompt, on one line. */
function beginningOf({ content }: Message): string {
  const line = showLine(content.trim());
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

export async function changeSession(conversation: OpenConversation, word: string): Promise<string> {
  const sessions = await conversation.sessions();
  if (word === '') {
    if (sessions.length === 0) return 'No conversation is kept yet.';
    const list = sessions.map(
      (session, index) =>
        `${session.id === conversation.session?.id ? '*' : ' '} ${String(index + 1).padStart(2)}  ${describeSession(session)}`,
    );
    return [...list, 'Choose with "/sessions" and a number. Older ones: "runner sessions".'].join('\n');
  }
  await conversation.change((/^\d{1,3}$/.test(word) ? sessions[Number(word) - 1]?.id : undefined) ?? word);
  return '';
}

export async function forkHere(conversation: OpenConversation, word: string): Promise<string> {
  if (word !== '' && !/^[1-9]\d{0,5}$/.test(word))
    return 'Say "/fork", or "/fork 2" to keep the first two turns.';
  const before = conversation.session;
  const turns = await conversation.fork(word === '' ? undefined : Number(word));
  if (turns === undefined) return word === '' ? nothing : `There is no turn ${word} yet.`;
  const back = before ? `; "/sessions ${before.id}" goes back to it` : '';
  return `This is a new conversation with ${count(turns, 'turn')}. The other one stays${back}.`;
}

export async function changeTitle(conversation: OpenConversation, word: string): Promise<string> {
  if (word !== '') await conversation.retitle(word);
  const { session } = conversation;
  return session ? `The title is "${titleOf(session)}".` : 'There is no title before the first prompt.';
}

export async function forget(conversation: OpenConversation): Promise<string> {
  conversation.clear();
  return 'This is a new conversation.';
}
