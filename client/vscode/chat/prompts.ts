/** What a command of `@runner` asks for, before the user's own words. */
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

/** What goes to the model: the command's prompt, then the user's words; without a command, the words alone. */
export function withPrompt(command: string | undefined, words: string): string {
  const lines =
    command !== undefined && Object.hasOwn(prompts, command) ? prompts[command as PromptName] : [];
  return [...lines, ...(words.trim() === '' && lines.length > 0 ? [] : [words])].join('\n\n');
}

/** Asks for the message of a commit. The changes are attached, file by file. */
export const commitPrompt = [
  'Write the commit message for the attached changes.',
  'The first line has at most 72 characters, begins with a verb in the imperative, and says what changes for the reader of the history, not which files. If a reason or a consequence cannot be seen in the changes, add an empty line and a short paragraph. Answer with the message alone: no quotes, no code block, no remark.',
].join('\n\n');

/** The message in an answer: small models put it into a code block or quotes all the same. */
export function toCommitMessage(answer: string): string {
  const text = answer.trim();
  const [, inside = text] = /^```[^\n]*\n([\s\S]*?)\n?```$/.exec(text) ?? [];
  return inside.trim().replace(/^"([^"\n]*)"$/, '$1');
}
