import type { McpContext } from './mcpErrors.ts';

/** A prompt that a person can choose in a client, as lists contain it. */
export const answerPrompt = {
  name: 'answer_from_docs',
  title: 'Answer from the documents',
  description: 'Answers a question from the documents of this library, and names the documents that it used.',
  arguments: [{ name: 'question', description: 'What you want to know.', required: true }],
};

/** In characters. */
const maxQuestionLength = 10_000;

export function answerPrompts({ server, failures }: McpContext): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: [answerPrompt] }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    if (params.name !== answerPrompt.name) throw failures.invalid(unknownPrompt(params.name));
    const question = params.arguments?.['question']?.trim() ?? '';
    if (question === '') throw failures.invalid('The argument "question" is missing.');
    if (question.length > maxQuestionLength)
      throw failures.invalid(`"question" must have at most ${maxQuestionLength} characters.`);
    const content = { type: 'text' as const, text: answerText(question) };
    return { description: answerPrompt.description, messages: [{ role: 'user' as const, content }] };
  });
}

export function unknownPrompt(name: string): string {
  return `There is no prompt "${name.slice(0, 100)}". There is ${answerPrompt.name}.`;
}

function answerText(question: string): string {
  return `Answer the question below from the documents of this library.

1. Look for it with search_docs. Use a few significant words, and try others if nothing fits.
2. Read what fits with get_doc_markdown; of long documents, read only the sections that you need.
3. Answer only from what you have read, and name the slugs of the documents. Say so if they do not answer the question.

Question: ${question}`;
}
