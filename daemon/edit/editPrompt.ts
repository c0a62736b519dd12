import type { Attachment, Message } from '../../protocol/messages/chat.ts';
import type { EditParams } from '../../protocol/messages/edit.ts';

/** In characters: how much of the file goes along before the lines, and after them. */
const maxBefore = 6_000;
const maxAfter = 3_000;

/** Where new lines are to stand, in what surrounds them. */
const place = '[the new lines stand here]';

type EditRequest = Pick<
  EditParams,
  'instruction' | 'text' | 'before' | 'after' | 'path' | 'language' | 'uris'
>;

/** The messages for an edit. `isPrivate`: nothing of the file but the lines themselves may be sent. */
export function editMessages(asked: EditRequest, isPrivate: boolean): readonly Message[] {
  const attachment = isPrivate ? nameOf(asked) : surroundingsOf(asked);
  // The attachment becomes a system message, and the templates of some models take only one.
  return [{ role: 'user', content: taskOf(asked), ...(attachment && { attachments: [attachment] }) }];
}

const rule =
  'Answer with one code block that has the new lines: all of them, with their indentation, and nothing else. Do not repeat what stands before or after them, and do not explain anything.';

function taskOf({ instruction, text: lines, path = 'a file', language = '' }: EditRequest): string {
  const text = lines.replace(/\r?\n$/, '');
  if (text.trim() === '')
    return `Write new lines for ${path}, where it says "${place}".\n\nWhat to write: ${instruction}\n\n${rule}`;
  const fence = fenceFor(text);
  return [
    `Change these lines of ${path}:\n\n${fence}${language}\n${text}\n${fence}`,
    `What to do: ${instruction}`,
    rule,
  ].join('\n\n');
}

/** Longer than every fence in the text. */
function fenceFor(text: string): string {
  return '`'.repeat(Math.max(3, longestFence(text) + 1));
}

/** How many ticks the longest fence in a text has; 0 if there is none. */
export function longestFence(text: string): number {
  const lengths = [...text.matchAll(/^ {0,3}(`{3,})/gm)].map(([, ticks = '']) => ticks.length);
  return lengths.reduce((longest, length) => Math.max(longest, length), 0);
}

/** The file around the lines. The client added it, so it is left out wherever that is decided later. */
function surroundingsOf({ before = '', text, after = '', ...file }: EditRequest): Attachment | undefined {
  if (before.trim() === '' && after.trim() === '') return undefined;
  const lines = text.trim() === '' ? [place] : [text];
  const around = [endOf(before), ...lines, beginningOf(after)].filter((part) => part !== '');
  return { ...fileOf(file), text: around.join('\n'), automatic: true };
}

/** The user learns who gets lines of a private file from the notice about this. */
function nameOf(file: EditRequest): Attachment {
  return { ...fileOf(file), text: '(The rest of this file is private.)' };
}

function fileOf({
  path = 'a file',
  language,
  uris,
}: Pick<EditRequest, 'path' | 'language' | 'uris'>): Omit<Attachment, 'text'> {
  return { path, ...(language === undefined ? {} : { language }), ...(uris === undefined ? {} : { uris }) };
}

/** Whole lines. */
function endOf(text: string): string {
  if (text.length <= maxBefore) return text;
  const end = text.slice(-maxBefore);
  return end.slice(end.indexOf('\n') + 1);
}

function beginningOf(text: string): string {
  if (text.length <= maxAfter) return text;
  const beginning = text.slice(0, maxAfter);
  return beginning.slice(0, Math.max(0, beginning.lastIndexOf('\n')));
}
