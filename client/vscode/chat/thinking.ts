import * as vscode from 'vscode';
import type { ChatParams } from '../../../protocol/messages/chat.ts';
import type { Model } from '../../../protocol/messages/models.ts';
import { modelThinking, think, updateSetting } from '../settings.ts';

/** What a request asks for: an answer to the user, a small task for the user, or work that the editor itself wants. */
export type ThinkingTask = 'chat' | 'small' | 'utility';

/** The words for how much a model thinks, with what they mean. */
const words = {
  auto: 'as it does by itself, but not in small tasks',
  on: 'also in small tasks',
  off: 'not at all',
  low: '',
  medium: '',
  high: '',
  max: '',
} as const;
type Word = keyof typeof words;

/** How much a model is to think; undefined leaves it to the model. `model` is undefined if it is not known. */
export function thinkFor(name: string, model: Model | undefined, task: ThinkingTask): ChatParams['think'] {
  if (task === 'utility') return false;
  const word = wordOf(name);
  if (word === 'auto') return task === 'small' ? false : undefined;
  if (word === 'off') return false;
  if (model?.capabilities.thinking.value === false) return undefined;
  return word === 'on' || model?.thinkingLevels === false ? true : word;
}

/** The user's word for this model, else for all of them. */
function wordOf(name: string): Word {
  const ofModels = modelThinking();
  const word = ofModels[name] ?? ofModels[name.replace(/:[^:/]*$/, '')] ?? think();
  return isWord(word) ? word : 'auto';
}

function isWord(word: string): word is Word {
  return Object.hasOwn(words, word);
}

/** The words that work for a model. */
function wordsFor({ thinkingLevels }: Pick<Model, 'thinkingLevels'>): readonly Word[] {
  const all = Object.keys(words).filter(isWord);
  return thinkingLevels === false ? all.slice(0, 3) : all;
}

/**
 * Sets how much a model thinks, from now on: by the word, or else by a list. The result is a sentence about it;
 * undefined if the user left the list.
 */
export async function changeThinking(model: Model, typed = ''): Promise<string | undefined> {
  const { name, capabilities } = model;
  if (capabilities.thinking.value === false) return `${name} has no thinking mode.`;
  const able = wordsFor(model);
  const word = typed === '' ? await pickWord(name, able) : able.find((one) => one === typed);
  if (word === undefined)
    return typed === '' ? undefined : `How much ${name} thinks is one of ${able.join(', ')}.`;
  const { [name]: _, ...others } = modelThinking();
  await updateSetting('modelThinking', word === 'auto' ? others : { ...others, [name]: word });
  const how = word === 'off' ? 'does not think' : `thinks ${words[word] || `at the level ${word}`}`;
  return `From now on, ${name} ${how}.`;
}

async function pickWord(name: string, able: readonly Word[]): Promise<Word | undefined> {
  const now = wordOf(name);
  const items = able.map((word) => ({
    label: word,
    description: [words[word], word === now ? 'now' : ''].filter(Boolean).join(' · '),
    word,
  }));
  return (await vscode.window.showQuickPick(items, { title: `How Much Does ${name} Think?` }))?.word;
}
