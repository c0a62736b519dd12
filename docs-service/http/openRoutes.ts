import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { page, pageHeaders } from './pages.ts';
import { createReferencePage } from './referencePage.ts';

/** Pages that are open to all and show nothing of the library. */
export function createOpenRoutes(origin: string): FastifyPluginAsync {
  return async (app) => {
    let reference: string | undefined;
    app.get('/', { schema: { hide: true } }, async (_request, reply) => sendPage(reply, frontPage));
    app.get('/docs', { schema: { hide: true } }, async (_request, reply) => {
      reference ??= createReferencePage(app.swagger(), origin);
      return sendPage(reply, reference);
    });
  };
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .headers({ ...pageHeaders, 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(html);
}

const frontPage = page(
  'runner-docs',
  `<h1>Documents</h1>
<p>This is <code>runner-docs</code>. It serves a library of documents to programs, readers and agents: as JSON, Markdown,
PDF and EPUB.</p>
<p>Reading needs a token from the owner of this library. <a href="/docs">The reference</a> describes every address.</p>`,
);
