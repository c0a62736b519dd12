/** The tools that the replies of the corpus were offered. */
export const formatTools = [
  {
    name: 'get_weather',
    inputSchema: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer' },
        hot: { type: 'boolean' },
        ratio: { type: 'number' },
        tags: { type: 'array', items: { type: 'string' } },
        more: { type: 'object', properties: { count: { type: 'integer' } } },
        note: { type: ['string', 'null'] },
      },
      required: ['city'],
    },
  },
  { name: 'get_time', inputSchema: { type: 'object', properties: { zone: { type: 'string' } } } },
  { name: 'get-current-time', inputSchema: { type: 'object', properties: {} } },
  {
    name: 'write_file',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, content: { type: 'string' } },
      required: ['path', 'content'],
    },
  },
  {
    name: 'save',
    inputSchema: { type: 'object', anyOf: [{ properties: { properties: { type: 'object' } } }] },
  },
  {
    name: 'read_file',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
] as const;
