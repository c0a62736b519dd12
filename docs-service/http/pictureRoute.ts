import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { seesDrafts } from './authorization.ts';
import { HttpProblem } from './problems.ts';
import { reads, slugParameter } from './schemas.ts';
import { sendRendition } from './sendRendition.ts';
import type { Services } from './services.ts';

/** The pictures that a document shows, for programs that show its Markdown. */
export function createPictureRoute({
  renditions,
  authorization,
  lookups,
}: Services): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/docs/:slug/files/*',
      {
        schema: {
          operationId: 'getDocFile',
          tags: ['Documents'],
          summary: 'A picture that a document shows',
          description: 'Other files have no address. The type is that of the bytes, and an SVG is sanitised.',
          params: pictureParameters,
          response: reads(picture, 308, 404, 422),
        },
      },
      async (request, reply) => {
        const { slug, '*': path } = request.params;
        const document = await lookups.document(slug, seesDrafts(request));
        const found = await renditions.picture(document, path);
        if (found === undefined) throw new HttpProblem(404, noSuchPicture(document.slug));
        return sendRendition(request, reply.headers(pictureHeaders), found, { authorization });
      },
    );
  };
}

/** A picture that is opened alone runs and loads nothing. */
export const pictureHeaders = { 'content-security-policy': "default-src 'none'; sandbox" } as const;

const pictureParameters = Type.Object({
  ...slugParameter.properties,
  '*': Type.String({ description: 'The path of the file, from the content folder.' }),
});

const picture = {
  description: 'The picture',
  content: Object.fromEntries(
    ['png', 'jpeg', 'gif', 'webp', 'svg+xml'].map((type) => [
      `image/${type}`,
      { schema: Type.String({ format: 'binary' }) },
    ]),
  ),
};

function noSuchPicture(slug: string): string {
  return `The document "${slug}" shows no picture at this path. Its Markdown has the addresses of those that it shows.`;
}
