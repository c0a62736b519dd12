/** What comes before a text, for models that were trained to tell questions and documents apart. */
interface Prefixes {
  readonly question: string;
  readonly text: string;
}

/** From the cards of the models. The first pattern that fits a name counts. */
const families: readonly (readonly [RegExp, Prefixes])[] = [
  [/nomic-embed-text/i, { question: 'search_query: ', text: 'search_document: ' }],
  [/embeddinggemma/i, { question: 'task: search result | query: ', text: 'title: none | text: ' }],
  [
    /qwen3-embedding/i,
    {
      question:
        'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
      text: '',
    },
  ],
  [/(?:^|[^a-z])(?:multilingual-)?e5-/i, { question: 'query: ', text: 'passage: ' }],
  [
    /mxbai-embed|snowflake-arctic-embed(?!2)|bge-(?:small|base|large)/i,
    { question: 'Represent this sentence for searching relevant passages: ', text: '' },
  ],
];

export function prefixesFor(model: string): Prefixes {
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? { question: '', text: '' };
}
