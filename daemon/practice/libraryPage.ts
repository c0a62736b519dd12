import { answerText, type Exchange } from './exchange.ts';
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
  const name = escapeHtml(baseName(model.name));
  const marks = capabilitiesOf(model).map((one) => `<span x-test-capability>${one}</span>`);
  return `<li x-test-model><a href="/library/${name}"><h2>${name}</h2><p>${escapeHtml(model.description ?? '')}</p>${marks.join('')}</a></li>`;
}

function baseName(name: string): string {
  return name.replace(/:[^/:]*$/, '');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
