import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  createMcpHandler,
  createRequestStateCodec,
  isLegacyRequest,
  type LegacyHttpHandler,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { listenerBounds, type McpHandler } from '../../docs-service/http/mcp/mcpRoute.ts';

/**
 * A server that has what the official conformance suite asks for by name. It asks its clients questions, for which
 * those of 2025-11-25 and before need sessions; the product asks none, and so has no sessions.
 */
export function createFixtureHandler(): McpHandler {
  const handler = createMcpHandler(createFixtureServer, { maxSubscriptions: listenerBounds.maxOfAll });
  const serveOlder = createSessions();
  return {
    fetch: async (request, given) =>
      (await isLegacyRequest(request, given?.parsedBody))
        ? serveOlder(request, given)
        : handler.fetch(request, given),
    close: () => handler.close(),
  };
}

/** Answers with what the official conformance suite asks a server for by name. */
function createFixtureServer(): Server {
  const server = new Server(
    { name: 'fixture', version: '1.0.0' },
    {
      capabilities: {
        ...{ tools: {}, prompts: {}, logging: {}, completions: {} },
        resources: { subscribe: true, listChanged: true },
      },
      requestState: { verify: (state, context) => stateCodec.verify(state, context) },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `Fixture ${name}.`,
      inputSchema: { type: 'object' as const },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools[params.name];
    if (tool === undefined) throw new ProtocolError(-32_602, `There is no tool ${params.name}.`);
    return tool({ args: params.arguments ?? {}, context, server });
  });
  server.setRequestHandler('resources/list', () => ({
    resources: ['test://static-text', 'test://static-binary', 'test://watched-resource'].map((uri) => ({
      uri,
      name: uri,
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [contentOf(uri)] }));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', () => ({ completion: { values: ['paris'], total: 1 } }));
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(promptArguments).map(([name, names]) => ({
      name,
      description: `Fixture ${name}.`,
      arguments: names.map((one) => ({ name: one, description: `Fixture ${one}.`, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    promptOf(params.name, params.arguments ?? {}, context),
  );
  return server;
}

/** Serves the older revisions with sessions, which questions to the client need there. */
function createSessions(): LegacyHttpHandler {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request, options) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known !== undefined) return known.handleRequest(request, options);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createFixtureServer().connect(transport);
    return transport.handleRequest(request, options);
  };
}

const stateCodec = createRequestStateCodec<string>({ key: randomUUID() + randomUUID() });

interface Call {
  readonly args: Record<string, unknown>;
  readonly context: ServerContext;
  readonly server: Server;
}

// The SDK checks each result against the schema of the client's revision.
// biome-ignore lint/suspicious/noExplicitAny: results of every kind, some of them wrong on purpose
type Fixture = (call: Call) => any;

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const image = { type: 'image', data: png, mimeType: 'image/png' } as const;

function text(value: string) {
  return { content: [{ type: 'text', text: value }] };
}

function resource(uri: string, mimeType: string, value: string) {
  return { type: 'resource', resource: { uri, mimeType, text: value } } as const;
}

function question(message: string, name: string, type = 'string') {
  const requestedSchema = { type: 'object', properties: { [name]: { type } }, required: [name] };
  return { method: 'elicitation/create', params: { message, requestedSchema } };
}

function sampling(prompt: string, maxTokens: number) {
  const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
  return { method: 'sampling/createMessage', params: { messages, maxTokens } };
}

const roots = { method: 'roots/list', params: {} };

function wanted(inputRequests: Record<string, unknown>, requestState?: string) {
  return {
    resultType: 'input_required',
    inputRequests,
    ...(requestState === undefined ? {} : { requestState }),
  };
}

/** Asks until each key is answered. */
function asking(inputRequests: Record<string, unknown>, hasState = false): Fixture {
  return async ({ context }) => {
    const answers = context.mcpReq.inputResponses ?? {};
    const isAnswered = Object.keys(inputRequests).every((key) => isAnswer(answers[key]));
    if (isAnswered && (!hasState || context.mcpReq.requestState() !== undefined))
      return text(`state-ok ${JSON.stringify(answers)}`);
    return wanted(inputRequests, hasState ? await stateCodec.mint('asked', context) : undefined);
  };
}

/** The kinds of answers, by what they have. */
function isAnswer(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  if ('action' in answer) return answer.action !== 'accept' || 'content' in answer;
  return 'roots' in answer || 'content' in answer;
}

const tools: Readonly<Record<string, Fixture>> = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  }),
  test_tool_with_logging: async ({ context }) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await context.mcpReq.log('info', line);
      await wait(50);
    }
    return text('Logged.');
  },
  test_logging_tool: async ({ context }) => {
    await context.mcpReq.log('info', 'A line.');
    return text('Logged.');
  },
  test_tool_with_progress: async ({ context }) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await context.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
      await wait(50);
    }
    return text('Done.');
  },
  test_sampling: async ({ args, context }) => {
    const { method, params } = sampling(String(args['prompt']), 100);
    // With the request that it belongs to, as there is no other stream.
    const { content } = (await context.mcpReq.send({
      method: method as 'sampling/createMessage',
      params,
    })) as {
      readonly content: { readonly text?: string };
    };
    return text(`LLM response: ${content.text}`);
  },
  test_elicitation: ({ args, context }) =>
    elicit(context, String(args['message']), {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    }),
  test_elicitation_sep1034_defaults: ({ context }) =>
    elicit(context, 'Defaults', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  test_elicitation_sep1330_enums: ({ context }) =>
    elicit(context, 'Enums', {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled('value', 'Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled('value', 'Choice') } },
    }),
  test_missing_capability: ({ server }) => {
    if (server.getClientCapabilities()?.sampling === undefined)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    return text('It is there.');
  },
  test_streaming_elicitation: asking({ user_name: question('What is your name?', 'name') }),
  test_input_required_result_elicitation: asking({ user_name: question('What is your name?', 'name') }),
  test_input_required_result_sampling: asking({
    capital_question: sampling('What is the capital of France?', 100),
  }),
  test_input_required_result_list_roots: asking({ client_roots: roots }),
  test_input_required_result_request_state: asking(
    { confirm: question('Please confirm', 'ok', 'boolean') },
    true,
  ),
  test_input_required_result_tampered_state: asking(
    { confirm: question('Please confirm', 'ok', 'boolean') },
    true,
  ),
  test_input_required_result_multiple_inputs: asking(
    {
      user_name: question('What is your name?', 'name'),
      greeting: sampling('Generate a greeting', 50),
      client_roots: roots,
    },
    true,
  ),
  test_input_required_result_multi_round: async ({ context }) => {
    const step = context.mcpReq.requestState<string>();
    if (step === undefined)
      return wanted(
        { step1: question('Step 1: What is your name?', 'name') },
        await stateCodec.mint('1', context),
      );
    if (step === '1')
      return wanted(
        { step2: question('Step 2: What is your favorite color?', 'color') },
        await stateCodec.mint('2', context),
      );
    return text('All is known.');
  },
  test_input_required_result_capabilities: ({ server }) => {
    const { sampling: canSample, elicitation } = server.getClientCapabilities() ?? {};
    return wanted({
      ...(canSample === undefined ? {} : { sample: sampling('Say hello', 10) }),
      ...(elicitation === undefined ? {} : { ask: question('What is your name?', 'name') }),
    });
  },
};

function titled(value: string, title: string) {
  return ['First', 'Second', 'Third'].map((place, at) => ({
    const: `${value}${at + 1}`,
    title: `${place} ${title}`,
  }));
}

async function elicit(context: ServerContext, message: string, properties: Record<string, unknown>) {
  const requestedSchema = { type: 'object', properties, required: Object.keys(properties) };
  const { action, content } = await context.mcpReq.send({
    method: 'elicitation/create',
    params: { message, requestedSchema },
  });
  const prefix = 'username' in properties ? 'User response: ' : 'Elicitation completed: ';
  return text(`${prefix}action=${action}, content=${JSON.stringify(content)}`);
}

function contentOf(uri: string) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const value = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { uri, mimeType: 'application/json', text: value };
  }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: png };
  if (uri === 'test://static-text' || uri === 'test://watched-resource')
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  throw new ResourceNotFoundError(uri);
}

const promptArguments: Readonly<Record<string, readonly string[]>> = {
  test_simple_prompt: [],
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
  test_prompt_with_image: [],
  test_input_required_result_prompt: [],
};

// biome-ignore lint/suspicious/noExplicitAny: a prompt, or a question
function promptOf(name: string, args: Record<string, string>, context: ServerContext): any {
  const said = (...contents: readonly unknown[]) => ({
    messages: contents.map((content) => ({ role: 'user', content })),
  });
  const line = (value: string) => ({ type: 'text', text: value });
  switch (name) {
    case 'test_simple_prompt':
      return said(line('This is a simple prompt for testing.'));
    case 'test_prompt_with_arguments':
      return said(line(`Prompt with arguments: arg1='${args['arg1']}', arg2='${args['arg2']}'`));
    case 'test_prompt_with_embedded_resource':
      return said(
        resource(args['resourceUri'] ?? '', 'text/plain', 'Embedded resource content for testing.'),
        line('Please process the embedded resource above.'),
      );
    case 'test_prompt_with_image':
      return said(image, line('Please analyze the image above.'));
    case 'test_input_required_result_prompt':
      return isAnswer(context.mcpReq.inputResponses?.['user_context'])
        ? said(line('With context.'))
        : wanted({ user_context: question('What context should the prompt use?', 'context') });
    default:
      throw new ProtocolError(-32_602, `There is no prompt ${name}.`);
  }
}
