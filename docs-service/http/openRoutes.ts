import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { page, pageHeaders } from './pages.ts';
import { createReferencePage } from './referencePage.ts';
import { metadataPath } from './signIn/metadataRoutes.ts';

/**
 * Pages that are open to all and show nothing of the library. Where the service is the authorization server, its
 * address stands for the owner, so the front page says where clients sign in (IndieAuth, 4.1).
 */
export function createOpenRoutes(origin: string, isServer: boolean): FastifyPluginAsync {
  const link = `<${origin}${metadataPath}>; rel="indieauth-metadata"`;
  return async (app) => {
    let reference: string | undefined;
    app.get('/', { schema: { hide: true } }, async (_request, reply) =>
      sendPage(isServer ? reply.header('link', link) : reply, frontPage()),
    );
    app.get('/docs', { schema: { hide: true } }, async (_request, reply) => {
      reference ??= createReferencePage(app.swagger(), origin);
      return sendPage(reply, reference);
    });
  };
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .headers({ ...pageHeaders(), 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(html);
}

const frontPage = () =>
  page({
    title: 'runner-docs: a library of documents',
    body: `<h1>A library of documents</h1>
<p class="lead">This is <code>runner-docs</code>. It serves a library to people in a browser, to programs as JSON,
Markdown, HTML, PDF and EPUB, and to agents that search and read.</p>
<p>The library belongs to its owner, and whoever reads it needs the owner’s leave.</p>
<ul>
<li><a href="/read">Open the library</a>, if it is yours: you sign in with your password.</li>
<li><a href="/docs">Read the reference</a> of every address, if you write a program. It needs a token.</li>
</ul>`,
  });
