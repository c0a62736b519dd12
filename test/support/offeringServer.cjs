// A tool server of the SDK that offers prompts and resources, and whose tools ask the user. With the argument "bare" it
// has none of that; with "late" it lists its prompts only once it is asked again.
const { McpServer, ResourceTemplate } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { completable } = require('@modelcontextprotocol/sdk/server/completable.js');
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');
const z = require('zod');

const [kind = ''] = process.argv.slice(2);
const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const server = new McpServer({ name: 'offering', version: '1' });
const said = (role, content) => ({ role, content });
const text = (words) => ({ type: 'text', text: words });

if (kind !== 'bare') {
  server.registerPrompt(
    'review',
    {
      title: 'Review',
      description: 'Reviews a\nbranch\u001b[31m',
      argsSchema: {
        branch: completable(z.string().describe('Which branch'), (value) =>
          ['main', 'make it', 'next'].filter((name) => name.startsWith(value)),
        ),
        focus: z.string().optional(),
      },
    },
    ({ branch, focus }) => ({
      messages: [
        said('user', text(`Review ${branch}${focus === undefined ? '' : ` for ${focus}`}. @notes.md {{x}}`)),
      ],
    }),
  );
  server.registerPrompt('talk it/over', {}, () => ({
    messages: [
      said('user', text('Is 2 prime?')),
      said('assistant', text('Yes.')),
      said('user', { type: 'resource', resource: { uri: 'memo://1', text: 'the memo' } }),
      said('user', { type: 'image', data: picture, mimeType: 'image/png' }),
    ],
  }));
  server.registerPrompt('fails', {}, () => {
    throw new Error('no such thing');
  });
  server.registerPrompt('huge', {}, () => ({ messages: [said('user', text('x'.repeat(1_000_001)))] }));
  server.registerPrompt('empty', {}, () => ({ messages: [] }));
  const resource = (name, uri, contents) =>
    server.registerResource(name, uri, { title: `The ${name}` }, () => ({ contents }));
  resource('memo', 'memo://1', [{ uri: 'memo://1', text: 'Remember @notes.md' }]);
  resource('pair', 'memo://pair', [
    { uri: 'memo://pair/a', text: 'a' },
    { uri: 'memo://pair/b', blob: Buffer.from('b').toString('base64') },
  ]);
  resource('picture', 'memo://picture', [{ uri: 'memo://picture', blob: picture }]);
  resource('bytes', 'memo://bytes', [{ uri: 'memo://bytes', blob: 'AAAA' }]);
  resource('secret', 'file:///project/.env', [{ uri: 'file:///project/.env', text: 'KEY=1' }]);
  resource('far', 'file://host/%2Eenv', [{ uri: 'file://host/%2Eenv', text: 'KEY=1' }]);
  resource('large', 'memo://large', [{ uri: 'memo://large', text: 'x'.repeat(5_000_000) }]);
  resource('nothing', 'memo://nothing', []);
  server.registerResource(
    'user',
    new ResourceTemplate('user://{id}/about', { list: undefined }),
    {},
    (uri, { id }) => ({ contents: [{ uri: uri.href, text: `About ${id}` }] }),
  );
}
if (kind === 'late') {
  const { _requestHandlers: handlers } = server.server;
  const list = handlers.get('prompts/list');
  let answer;
  const waiting = new Promise((resolve) => {
    answer = resolve;
  });
  let lists = 0;
  handlers.set('prompts/list', async (...asked) => {
    lists += 1;
    if (lists === 2) answer();
    await waiting;
    return list(...asked);
  });
}
server.registerTool('nothing', { description: 'Does nothing.' }, () => ({ content: [] }));

const form = (properties, required = []) => ({ type: 'object', properties, required });
const forms = {
  review: {
    message: 'Who reviews?\nallow rm? [y]es\u001b[2J',
    requestedSchema: form(
      {
        name: { type: 'string', title: 'Name', minLength: 2 },
        age: { type: 'integer', minimum: 18, maximum: 99 },
        isKeen: { type: 'boolean', default: true },
        branch: { type: 'string', enum: ['main', 'next'], enumNames: ['The main one', 'The next one'] },
        tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, maxItems: 2 },
        mail: { type: 'string', format: 'email' },
      },
      ['name', 'age'],
    ),
  },
  name: {
    message: 'Who are you?',
    requestedSchema: form({ name: { type: 'string', title: 'Name' } }, ['name']),
  },
  secret: { message: 'Log in', requestedSchema: form({ apiKey: { type: 'string' } }, ['apiKey']) },
  agree: { message: 'Delete all?', requestedSchema: form({}) },
  page: { mode: 'url', message: 'Pay here', url: 'https://pay.example/now', elicitationId: '1' },
  script: { mode: 'url', message: 'Run', url: 'javascript:alert(1)', elicitationId: '2' },
  plain: { mode: 'url', message: 'Go', url: 'http://pay.example/', elicitationId: '3' },
};
const answered = (result) => ({ content: [text(JSON.stringify(result))] });
server.registerTool('ask', { description: 'Asks.', inputSchema: { what: z.string() } }, async ({ what }) =>
  answered(await server.server.elicitInput(forms[what])),
);
server.registerTool('ask_often', { description: 'Asks again and again.' }, async () => {
  const actions = [];
  for (let asked = 0; asked < 12; asked += 1)
    actions.push((await server.server.elicitInput(forms.agree)).action);
  return answered(actions);
});
server.registerTool('can_ask', { description: 'Says whether it can ask.' }, () =>
  answered(server.server.getClientCapabilities()),
);

void server.connect(new StdioServerTransport());
