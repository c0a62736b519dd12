import { cutText } from '../../../protocol/base/text.ts';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import type { Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { idOf, isSameModel } from '../models/modelRow.ts';

/** The prompts of the commands of `@runner`, which come before the user's own words. */
export const prompts = {
  explain: [
    'Explain this code to a colleague who knows the language but not this project.',
    'Begin with one sentence on what it is for. Then go through it in the order in which it runs: what comes in, what happens to it, what comes out. Name each assumption and each side effect that a caller must know. Point out what is surprising. Quote the few lines that you talk about, and do not repeat the rest.',
  ],
  fix: [
    'Find what is wrong with this code, and fix it.',
    'Say first what goes wrong and why, in one or two sentences. Then show the smallest change that mends it, as a code block with enough lines around it to find the place. Keep the names, the style and the behaviour of everything else. If several causes are possible, begin with the likeliest, and say how to find out. If nothing is wrong, say so.',
  ],
  tests: [
    'Write tests for this code.',
    'Use the test framework that the code around it uses, or else the usual one of the language, and say which. Test what callers can see, not how it is done: the usual case, the limits (nothing, one, many), and what must fail. Give each test a name that says what is expected. Write only tests that fail if the code is wrong. Answer with one code block, and below it one line for each case that you left out.',
  ],
  doc: [
    'Write the documentation comment for this code, in the form that is usual for its language.',
    'Say what it does for its caller, not how. Name the units and limits of parameters, what is returned, and when it fails. Leave out what the names and types say already. Answer with the comment and the line that it stands above, as one code block.',
  ],
} as const;

export type PromptName = keyof typeof prompts;

/** The command's prompt, then the user's words; without a command, the words alone. */
export function withPrompt(command: string | undefined, words: string): string {
  const lines =
    command !== undefined && Object.hasOwn(prompts, command) ? prompts[command as PromptName] : [];
  return [...lines, ...(words.trim() === '' ? [] : [words])].join('\n\n');
}

/**
 * Removes repeated attachments: the editor adds the selection of the open file by itself, and the user may have
 * attached the same lines. The user's own attachment wins.
 */
export function attachedOnce(attachments: readonly Attachment[]): readonly Attachment[] {
  const named = attachments.filter(({ automatic }) => !automatic);
  const keyed = [...attachments, ...named].map(
    (one) => [`${one.lines} ${one.path}\n${one.text}`, one] as const,
  );
  return [...new Map(keyed).values()];
}

/**
 * Ends a prompt that "Try Again" sends, and has no width. The editor sends only the words of such a prompt. By this
 * mark we know that the attachments of the failed prompt belong to it too. If the user types the same words, they do
 * not.
 */
const retryMark = '\u2060';

export function isTriedAgain(prompt: string): boolean {
  return prompt.endsWith(retryMark);
}

export function withRetryMark(prompt: string): string {
  return `${withoutRetryMark(prompt)}${retryMark}`;
}

export function withoutRetryMark(prompt: string): string {
  return isTriedAgain(prompt) ? prompt.slice(0, -retryMark.length) : prompt;
}

/** `#codebase` as a word of its own. */
const codebase = /(^|\s)#codebase(?=$|[\s.,:;!?])/gi;

export function namesCodebase(prompt: string): boolean {
  return withoutRetryMark(prompt).search(codebase) >= 0;
}

/** It is for the editor, and would confuse a model. */
export function withoutCodebase(prompt: string): string {
  return namesCodebase(prompt) ? prompt.replace(codebase, '').trim() : prompt;
}

/** The model that `/model` names as the picker does, or by its name alone; the default server's comes first. */
export function findNamedModel(name: string, models: readonly Model[]): Model | undefined {
  const called = models.filter((model) =>
    [model.name, idOf(model)].some((one) => isSameModel({ model: one }, { model: name })),
  );
  return called.find(({ server }) => server === defaultServerName) ?? called[0];
}

/** At most this many characters of an attached file are sent, and this many names of a folder. */
const maxReference = 100_000;
const maxNames = 500;

export function toAttachment(path: string, text: string): Attachment {
  return { path, text: text.length > maxReference ? `${cutText(text, maxReference)}\n(cut)` : text };
}

/** The editor opens many files even though they are not text. */
export function isBinary(text: string): boolean {
  return text.slice(0, 8192).includes('\0');
}

/** Names of a folder, one a line. */
export function listed(names: readonly string[]): string {
  const more = names.length > maxNames ? [`(${names.length - maxNames} more)`] : [];
  return [...names.toSorted().slice(0, maxNames), ...more].join('\n');
}
