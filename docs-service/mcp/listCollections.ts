import { Type } from 'typebox';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { defineTool } from './tool.ts';

export const listCollections = defineTool({
  name: 'list_collections',
  title: 'List collections',
  description:
    'Lists the collections of this library with their numbers of documents. ' +
    'The resource docs://collection/{name} has the titles and slugs of the documents of one.',
  input: Type.Object({}, { additionalProperties: false }),
  output: Type.Object({
    collections: Type.Array(
      Type.Object({ name: Type.String(), title: Type.String(), documents: Type.Integer() }),
    ),
    notice: Type.Optional(Type.String({ description: 'Why collections may be missing.' })),
  }),
  async call(_args, library) {
    const [collections, notice] = await Promise.all([library.countedCollections(), library.notice()]);
    return withoutUndefined({
      collections: collections.map(({ name, title, documents }) => ({ name, title, documents })),
      notice,
    });
  },
});
