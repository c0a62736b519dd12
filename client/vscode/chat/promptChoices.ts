import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { count } from '../../../protocol/base/text.ts';
import type { ListPromptsResult, Prompt } from '../../../protocol/messages/prompts.ts';
import { usageOf } from '../../shared/promptUsage.ts';
import { withoutIcons } from '../ui/safeText.ts';
import { prompts as ownPrompts } from './prompt.ts';

/** The slash commands of `@runner`, which come before prompts with their names. */
export const participantCommands: readonly string[] = [
  ...Object.keys(ownPrompts),
  'model',
  'think',
  'prompts',
];

/** What a row of the list does. */
type Choice =
  | { readonly does: 'use'; readonly name: string }
  /** It cannot be used: its file opens, at the line of what is wrong, counted from 1. */
  | { readonly does: 'open'; readonly path: string; readonly line: number }
  | { readonly does: 'allow' }
  | { readonly does: 'write' };

interface PromptChoice {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly choice: Choice;
}

/** The rows: prompts that can be used, then files that cannot, with the reason, then what else can be done. */
export function promptChoices({ prompts, folder }: ListPromptsResult): readonly PromptChoice[] {
  const usable = prompts.filter(isUsable).map(toUse);
  const others = prompts.flatMap((prompt) => (isUsable(prompt) ? [] : toOpen(prompt)));
  const allow: readonly PromptChoice[] =
    folder?.state === 'unasked'
      ? [
          {
            label: '$(folder) Prompts of This Workspace…',
            description: `${count(folder.files, 'prompt')} that you have not allowed yet`,
            choice: { does: 'allow' },
          },
        ]
      : [];
  return [...usable, ...others, ...allow, { label: '$(add) New Prompt…', choice: { does: 'write' } }];
}

function isUsable({ problem, hiddenBy }: Prompt): boolean {
  return problem === undefined && hiddenBy === undefined;
}

function toUse(prompt: Prompt): PromptChoice {
  const [name = '', ...words] = usageOf(prompt).split(' ');
  const about = [...(words.length > 0 ? [words.join(' ')] : []), ...whose(prompt)].join(' · ');
  return {
    label: safe(name),
    description: safe(about),
    ...(prompt.description === '' ? {} : { detail: safe(prompt.description) }),
    choice: { does: 'use', name: prompt.name },
  };
}

function toOpen(prompt: Prompt): readonly PromptChoice[] {
  const { name, path, problem, line = 1, hiddenBy } = prompt;
  if (path === undefined) return [];
  const why =
    hiddenBy === 'command'
      ? `Hidden: /${name} is a command of @runner. Rename the prompt.`
      : 'Hidden by your own prompt with this name.';
  return [
    {
      label: `$(warning) ${safe(`/${name}`)}`,
      description: whose(prompt).join(''),
      detail: safe(problem ?? why),
      choice: { does: 'open', path, line },
    },
  ];
}

function whose({ from, server }: Prompt): readonly string[] {
  if (from === 'user') return [];
  return [from === 'workspace' ? 'of this workspace' : `of the tool server ${server}`];
}

/** Text of a file, which may have icons and control characters of its own. */
function safe(text: string): string {
  return withoutIcons(showLine(text));
}

/** The name of a file without its ending, if it can be the name of a prompt. */
export const promptName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The text of a new prompt, which can be used as it is. */
export const newPrompt = `---
description: Explains something, with an example
arguments:
  - name: topic
    required: true
---
Explain {{topic}}. Then show the smallest example that works.
`;
