import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Rendition } from '../../formats/renditionMaker.ts';
import { createEtag, sendRendition, sendText } from '../answers.ts';
import type { Authorization } from '../authorization.ts';
import { readingPath } from '../documentView.ts';
import { escapeHtml, page, pageHeaders, type Site } from '../pages.ts';
import { answerError, type HttpProblem, loggedProblemOf, withoutAnswer } from '../problems.ts';
import { DocumentMissingError } from '../services.ts';

/** Answers with a page that has the text of a document. */
export function sendAround(
  request: FastifyRequest,
  reply: FastifyReply,
  article: Rendition,
  around: { readonly before: string; readonly after: string },
  authorization: Authorization,
): Promise<FastifyReply> {
  const etag = createEtag(around.before, around.after, article.etag);
  reply.headers(pageHeaders({ isReading: true }));
  return sendRendition(request, reply, { ...article, etag }, { authorization, around });
}

export function sendPage(request: FastifyRequest, reply: FastifyReply, html: string): FastifyReply {
  reply.headers(pageHeaders({ isReading: true }));
  return sendText(request, reply, { text: html, mediaType: 'text/html' });
}

/** Answers a browser with a page, and a program with a problem. */
export function createPageAnswer(site: Site) {
  return (error: FastifyError | HttpProblem, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const hasPages = site.hasSignIn || request.visitor !== null;
    if (!hasPages || !request.headers.accept?.includes('text/html'))
      return answerError(error, request, reply);
    const problem = loggedProblemOf(error, request);
    return withoutAnswer(reply)
      .code(problem.status)
      .headers({ ...pageHeaders({ isReading: true }), 'cache-control': 'no-store', ...problem.headers })
      .type('text/html; charset=utf-8')
      .send(errorPage(request.visitor === null ? site : { ...site, isOpen: true }, problem));
  };
}

/** A page for people about an error under `/read`. */
function errorPage(site: Site, problem: HttpProblem): string {
  const title = titles[problem.status] ?? 'That did not work';
  return page({
    site,
    title,
    hasSearch: true,
    isOwners: !site.isOpen,
    body: `<h1>${title}</h1>
${problem instanceof DocumentMissingError ? missing(site, problem) : `<p class="lead">${escapeHtml(problem.message)}</p>`}
<p><a href="${site.root}/read">Go to the library</a></p>`,
  });
}

function missing(site: Site, { slug, near }: DocumentMissingError): string {
  const sentence = `<p class="lead">There is no document “<bdi class="foreign">${escapeHtml(slug)}</bdi>” in this library.</p>`;
  if (near.length === 0) return sentence;
  const links = near.map((one) => `<li><a href="${readingPath(site, one)}">${escapeHtml(one)}</a></li>`);
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
