import { readingPath } from '../documentView.ts';
import { DocumentMissing } from '../lookups.ts';
import { escapeHtml, page } from '../pages.ts';
import type { HttpProblem } from '../problem.ts';

/** A page for people about an error under `/read`. */
export function errorPage(problem: HttpProblem): string {
  const title = titles[problem.status] ?? 'That did not work';
  return page({
    title: `${title} · runner-docs`,
    hasSearch: true,
    isOwners: true,
    body: `<h1>${title}</h1>
${problem instanceof DocumentMissing ? missing(problem) : `<p class="lead">${escapeHtml(problem.message)}</p>`}
<p><a href="/read">Go to the library</a></p>`,
  });
}

function missing({ slug, near }: DocumentMissing): string {
  const sentence = `<p class="lead">There is no document “<bdi class="foreign">${escapeHtml(slug)}</bdi>” in this library.</p>`;
  if (near.length === 0) return sentence;
  const links = near.map((one) => `<li><a href="${readingPath(one)}">${escapeHtml(one)}</a></li>`);
  return `${sentence}\n<p>Did you mean one of these?</p>\n<ul>${links.join('')}</ul>`;
}

const titles: Readonly<Record<number, string>> = {
  400: 'This address is not valid',
  403: 'This is not allowed',
  404: 'Not found',
  414: 'This address is too long',
  416: 'The file has no such part',
  422: 'This cannot be shown',
  429: 'Too many requests',
  503: 'Not available right now',
};
