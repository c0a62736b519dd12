import { Type } from 'typebox';
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
  }),
  async call(_args, library) {
    return { collections: [...(await library.countedCollections())] };
  },
});
