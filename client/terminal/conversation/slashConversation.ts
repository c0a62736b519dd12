import { writeFile } from 'node:fs/promises';
import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { expandPath } from '../../../protocol/base/platform/folder.ts';
import { count } from '../../../protocol/base/text.ts';
import type { FileDiff, Message } from '../../../protocol/messages/chat.ts';
import type { Session } from '../../../protocol/messages/sessions.ts';
import type { EditsResult, RestoredEdits } from '../../../protocol/messages/tools.ts';
import { TerminalError } from '../cli/failure.ts';
import { describeSession, titleOf } from './keptConversation.ts';
import type { Along } from './namedFiles.ts';
import { pathOfWord, type SlashResult } from './slashSettings.ts';

/** What the commands about the last turn read and change. */
export interface WithLastTurn {
  readonly cwd: string;
  lastTurn(): Promise<LastTurn>;
  /** Takes back the last turn, also where the conversation is kept. Returns its prompt; undefined if there is none. */
  undo(): Promise<Message | undefined>;
  /** Does the same, and attaches to the next prompt what was attached to that one. */
  undoToEdit(): Promise<EditedTurn | undefined>;
  /** What the built-in tools have changed in the last turn. */
  lastEdits(): Promise<EditsResult>;
  undoEdits(): Promise<RestoredEdits>;
  redoEdits(): Promise<RestoredEdits>;
  readonly describeDiff: (diff: FileDiff) => string;
  /** Puts a text into the clipboard. Returns whether a program of the system took it. */
  copy(text: string): Promise<boolean>;
}

export interface LastTurn {
  readonly prompt?: Message;
  /** The text of the last answer. */
  readonly answer?: string;
}

/** A prompt that is to be changed and asked again. */
export interface EditedTurn {
  /** As it was typed. */
  readonly entry: string;
  readonly attached: Along;
}

const nothing: SlashResult = { text: 'There is no turn yet.' };

/** If the turn has changed files, the user says whether they are taken back too. */
export async function undoTurn(state: WithLastTurn): Promise<SlashResult> {
  const edits = await state.lastEdits();
  const takeBack = async (): Promise<SlashResult> => {
    const prompt = await state.undo();
    return prompt ? { text: `Took back "${beginningOf(prompt)}" and its answer.` } : nothing;
  };
  return edits.count === 0 ? takeBack() : askAboutEdits(state, edits, takeBack);
}

function askAboutEdits(
  state: WithLastTurn,
  edits: EditsResult,
  takeBack: () => Promise<SlashResult>,
): SlashResult {
  const what = `${count(edits.count, 'edit')} in ${count(edits.files.length, 'file')}`;
  const ask = (text: string): SlashResult => ({
    text,
    confirm: {
      question: `take back the prompt, and its ${what}? [y]es, [p]rompt only, [d]iff, [n]o `,
      async yes() {
        const files = describeRestored('Took back the edits of', await state.undoEdits());
        const { text: taken, ...rest } = await takeBack();
        return { ...rest, text: [taken, files, '"/redo" brings them back.'].join('\n') };
      },
      others: new Map([
        ['prompt', takeBack],
        ['diff', async () => ask(edits.files.map(state.describeDiff).join('\n'))],
      ]),
      no: 'Nothing was taken back.',
    },
  });
  return ask('');
}

export async function showEdits(state: WithLastTurn): Promise<SlashResult> {
  const { files } = await state.lastEdits();
  if (files.length === 0) return { text: 'The last answer has changed nothing that could be taken back.' };
  return { text: `${files.map(state.describeDiff).join('\n')}\n"/undo" takes them back.` };
}

/** Brings back the edits that were taken back last; their prompt stays away. */
export async function redoEdits(state: WithLastTurn): Promise<SlashResult> {
  const restored = await state.redoEdits();
  if (restored.restored.length + restored.left.length === 0)
    return { text: 'No edits of this conversation were taken back.' };
  return { text: describeRestored('Brought back the edits of', restored) };
}

function describeRestored(done: string, { restored, left }: RestoredEdits): string {
  const lines = left.map(({ name, reason }) => `${showLine(name)} stays as it is: ${showLine(reason)}`);
  return [...(restored.length === 0 ? [] : [`${done} ${restored.map(showLine).join(', ')}.`]), ...lines].join(
    '\n',
  );
}

/** The old answer stays until the new one is whole. */
export async function retryTurn(state: WithLastTurn): Promise<SlashResult> {
  const { prompt } = await state.lastTurn();
  if (!prompt) return nothing;
  const again: SlashResult = { text: `Asking again: ${beginningOf(prompt)}`, again: true };
  return withoutEdits(state, async () => again);
}

export async function editTurn(state: WithLastTurn): Promise<SlashResult> {
  return withoutEdits(state, async () => {
    const edited = await state.undoToEdit();
    return edited ? { text: describeAlong(edited.attached), edit: edited.entry } : nothing;
  });
}

/** Asks whether the edits of the last turn are taken back first. */
async function withoutEdits(state: WithLastTurn, next: () => Promise<SlashResult>): Promise<SlashResult> {
  const edits = await state.lastEdits();
  if (edits.count === 0) return next();
  const what = `${count(edits.count, 'edit')} in ${count(edits.files.length, 'file')}`;
  return {
    text: '',
    confirm: {
      question: `take back its ${what} first? [y]es, [k]eep, [n]o `,
      async yes() {
        const files = describeRestored('Took back the edits of', await state.undoEdits());
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

export async function copyAnswer(state: WithLastTurn, word: string): Promise<SlashResult> {
  const { answer } = await state.lastTurn();
  if (answer === undefined) return nothing;
  if (word !== '' && !/^[1-9]\d{0,3}$/.test(word))
    return { text: 'Say "/copy", or "/copy 1" for a block of code.' };
  const blocks = codeBlocksOf(answer);
  const text = word === '' ? answer : blocks[Number(word) - 1];
  if (text === undefined) {
    const there =
      blocks.length === 0 ? 'no block of code' : count(blocks.length, 'block of code', 'blocks of code');
    return { text: `The answer has ${there}.` };
  }
  const what = `${word === '' ? 'the answer' : `block ${word}`}, ${formatBytes(Buffer.byteLength(text))}`;
  return {
    text: (await state.copy(text))
      ? `Copied ${what}.`
      : `Sent ${what}, to the terminal for its clipboard. Not every terminal takes it.`,
  };
}

/** Writes the last answer into a file. One that is there already is asked about. */
export async function saveAnswer(state: WithLastTurn, word: string): Promise<SlashResult> {
  const { cwd } = state;
  const path = pathOfWord(word);
  if (path === '') return { text: 'Say where: /save FILE' };
  const { answer } = await state.lastTurn();
  if (answer === undefined) return nothing;
  const text = answer.endsWith('\n') ? answer : `${answer}\n`;
  const write = async (flag: 'w' | 'wx') => {
    await writeFile(expandPath(cwd, path), text, { flag });
    return `Saved the answer in ${showLine(path)}, ${formatBytes(Buffer.byteLength(text))}.`;
  };
  try {
    return { text: await write('wx') };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw notSaved(path, error);
    return {
      text: '',
      confirm: {
        question: `${showLine(path)} is there already. Overwrite it? [y]es, [n]o `,
        async yes() {
          try {
            return { text: await write('w') };
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
  return new TerminalError('usage', `${showLine(path)} cannot be written: ${messageOf(cause)}.`, { cause });
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

/** What the commands about conversations read and change. */
export interface WithSession {
  /** Undefined before the first prompt. */
  readonly session: Session | undefined;
  /** The kept conversations, newest first. */
  sessions(): Promise<readonly Session[]>;
  /** Continues another conversation. */
  change(id: string): Promise<void>;
  /**
   * Goes on in a new conversation with what was said, or with its first turns; the other one stays. Returns how many
   * turns it has; undefined if this one has fewer.
   */
  fork(turns: number | undefined): Promise<number | undefined>;
  retitle(title: string): Promise<void>;
  /** Begins a new conversation. */
  clear(): void;
}

export async function changeSession(state: WithSession, word: string): Promise<SlashResult> {
  const sessions = await state.sessions();
  if (word === '') {
    if (sessions.length === 0) return { text: 'No conversation is kept yet.' };
    const list = sessions.map(
      (session, index) =>
        `${session.id === state.session?.id ? '*' : ' '} ${String(index + 1).padStart(2)}  ${describeSession(session)}`,
    );
    return {
      text: [...list, 'Choose with "/sessions" and a number. Older ones: "runner sessions".'].join('\n'),
    };
  }
  await state.change((/^\d{1,3}$/.test(word) ? sessions[Number(word) - 1]?.id : undefined) ?? word);
  return { text: '' };
}

export async function forkHere(state: WithSession, word: string): Promise<SlashResult> {
  if (word !== '' && !/^[1-9]\d{0,5}$/.test(word))
    return { text: 'Say "/fork", or "/fork 2" to keep the first two turns.' };
  const before = state.session;
  const turns = await state.fork(word === '' ? undefined : Number(word));
  if (turns === undefined)
    return { text: word === '' ? 'There is no turn yet.' : `There is no turn ${word} yet.` };
  const back = before ? `; "/sessions ${before.id}" goes back to it` : '';
  return { text: `This is a new conversation with ${count(turns, 'turn')}. The other one stays${back}.` };
}

export async function changeTitle(state: WithSession, word: string): Promise<SlashResult> {
  if (word !== '') await state.retitle(word);
  const { session } = state;
  return {
    text: session ? `The title is "${titleOf(session)}".` : 'There is no title before the first prompt.',
  };
}

export async function forget(state: WithSession): Promise<SlashResult> {
  state.clear();
  return { text: 'This is a new conversation.' };
}
