import { answerJson, type Exchange } from './exchange.ts';

/** Nobody is ever signed in to a practice runner. */
export function me({ response }: Exchange): void {
  const signinUrl = 'https://ollama.com/connect?name=practice&key=cHJhY3RpY2U';
  answerJson(response, { error: 'unauthorized', signin_url: signinUrl }, { status: 401 });
}

export function signOut({ response }: Exchange): void {
  answerJson(response, { error: 'you are not currently signed in' }, { status: 401 });
}

export function recommendations({ response, runner }: Exchange): void {
  const entries = runner.catalog.map(({ name, description = '', contextLength }) => ({
    model: name,
    description,
    context_length: contextLength,
  }));
  answerJson(response, { recommendations: entries });
}
