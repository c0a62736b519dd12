import { escapeMarkup } from '../../protocol/base/text.ts';
import { answerJson, answerText, type Exchange } from './exchange.ts';
import { capabilitiesOf, type PracticeModel } from './model.ts';

/** The library is a web page and not JSON, as on ollama.com: one link `/library/NAME` for each model. */
export function libraryPage({ response, runner, tail }: Exchange): void {
  const entries = runner.catalog.filter(({ name }) => tail === '' || baseName(name) === tail);
  const found = entries.length > 0 || tail === '';
  const page = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Practice library</title></head><body>
<h1>${found ? 'Practice library' : 'Page not found'}</h1>
<ul role="list">
${entries.map(entryItem).join('\n')}
</ul>
</body></html>
`;
  answerText(response, page, { status: found ? 200 : 404, contentType: 'text/html; charset=utf-8' });
}

function entryItem(model: PracticeModel): string {
  const name = escapeMarkup(baseName(model.name));
  const marks = capabilitiesOf(model).map((one) => `<span x-test-capability>${one}</span>`);
  return `<li x-test-model><a href="/library/${name}"><h2>${name}</h2><p>${escapeMarkup(model.description ?? '')}</p>${marks.join('')}</a></li>`;
}

function baseName(name: string): string {
  return name.replace(/:[^/:]*$/, '');
}

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
