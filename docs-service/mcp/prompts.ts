import type { McpContext } from './mcpErrors.ts';

/** A prompt that a person can choose in a client, as lists contain it. */
export const answerPrompt = {
  name: 'answer_from_docs',
  title: 'Answer from the documents',
  description: 'Answers a question from the documents of this library, and cites the sections that it used.',
  arguments: [{ name: 'question', description: 'What you want to know.', required: true }],
};

/** In characters. */
const maxQuestionLength = 10_000;

export function answerPrompts({ server, library, failures }: McpContext): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: [answerPrompt] }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { signal } }) => {
    if (params.name !== answerPrompt.name) throw failures.invalid(unknownPrompt(params.name));
    const question = params.arguments?.['question']?.trim() ?? '';
    if (question === '') throw failures.invalid('The argument "question" is missing.');
    if (question.length > maxQuestionLength)
      throw failures.invalid(`"question" must have at most ${maxQuestionLength} characters.`);
    return failures.answer(signal, async () => {
      const { hasMeaning } = (await library).search;
      const content = { type: 'text' as const, text: answerText(question, hasMeaning) };
      return { description: answerPrompt.description, messages: [{ role: 'user' as const, content }] };
    });
  });
}

export function unknownPrompt(name: string): string {
  return `There is no prompt "${name.slice(0, 100)}". There is ${answerPrompt.name}.`;
}

function answerText(question: string, hasMeaning: boolean): string {
  return `Answer the question below from the documents of this library.

1. Look for it with search_docs. ${hasMeaning ? askForBoth : askForWords}
2. Read what fits with get_doc_markdown: the section that the result names, or all of a short document.
3. Answer only from what you have read. After each statement, cite the address of the section that says it.
4. If nothing that you have read answers the question, say that the documents do not answer it, and stop there.

Question: ${question}`;
}

const askForWords = 'Ask the question as it is, or in the words of its subject.';
const askForBoth = `${askForWords} What was found by meaning alone is only the nearest, and may be about something else.`;
