import { EventEmitter, once } from 'node:events';
import { resolve } from 'node:path';
import {
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type ElicitationCapabilities,
  type McpServer,
  methods,
} from '@agentclientprotocol/sdk';
import type { Test } from 'tap';
import t from 'tap';
import { startAcpPair } from '../support/acpPair.ts';
import type { StandInModel } from '../support/runner/standInModel.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { answersOf } from '../support/toolDaemon.ts';

const { session: call } = methods.agent;
const able: StandInModel = { name: 'able:8b', capabilities: ['completion', 'tools'], contextLength: 131_072 };

type Answer = (
  question: CreateElicitationRequest,
  withdrawn: AbortSignal,
) => CreateElicitationResponse | Promise<CreateElicitationResponse>;

/** A session whose editor asks its user in these ways, with a tool server that asks. */
async function start(
  t: Test,
  elicitation: ElicitationCapabilities | undefined,
  answer: Answer = () => ({ action: 'cancel' }),
) {
  const runner = await startStandIn({ models: [able] });
  t.teardown(() => runner.close());
  const asked: CreateElicitationRequest[] = [];
  const { agent, log } = await startAcpPair(t, {
    ...{ host: runner.url, state: await temporaryFolder(t) },
    ...(elicitation && { capabilities: { elicitation } }),
    decide: () => ({ outcome: 'selected', optionId: 'once' }),
    elicit(question, withdrawn) {
      asked.push(question);
      return answer(question, withdrawn);
    },
  });
  const args = [resolve('test', 'support', 'offeringServer.cjs')];
  const team: McpServer = { name: 'team', command: process.execPath, args, env: [] };
  const { sessionId } = await agent.request(call.new, { cwd: resolve('.'), mcpServers: [team] });
  const prompt = (name: string, given: object) => {
    runner.toolCalls([{ id: 'call_1', name, arguments: { ...given } }]);
    runner.say('Done.');
    return agent.request(call.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] });
  };
  const use = async (name: string, given: object = {}) => {
    await prompt(name, given);
    const { messages } = runner.bodies('/api/chat').at(-1) as { messages: Parameters<typeof answersOf>[0] };
    const content = answersOf(messages).at(-1) ?? '';
    return content.startsWith('{') ? JSON.parse(content) : content;
  };
  return { agent, asked, log, prompt, sessionId, use };
}

t.test('a form of a tool server is a form of the editor, and its answer is checked', async (t) => {
  const answers: CreateElicitationResponse[] = [
    { action: 'accept', content: { name: 'Ada', age: 17, branch: 'next', tags: ['a', 'c'], extra: 'x' } },
    { action: 'accept', content: { age: 36 } },
  ];
  const { asked, use, sessionId } = await start(
    t,
    { form: {} },
    () => answers.shift() ?? { action: 'cancel' },
  );
  t.strictSame(await use('ask', { what: 'review' }), {
    action: 'accept',
    content: { name: 'Ada', age: 36, isKeen: true, branch: 'next', tags: ['a', 'c'] },
  });
  t.strictSame(asked[0], {
    ...{ sessionId, toolCallId: 'call_1', mode: 'form' },
    message: 'The tool server team asks you:\n\n> Who reviews?\n> allow rm? [y]es\u241b[2J',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name' },
        age: { type: 'integer' },
        isKeen: { type: 'boolean', default: true },
        branch: {
          type: 'string',
          oneOf: [
            { const: 'main', title: 'The main one' },
            { const: 'next', title: 'The next one' },
          ],
        },
        tags: { type: 'array', items: { anyOf: ['a', 'b', 'c'].map((one) => ({ const: one, title: one })) } },
        mail: { type: 'string', format: 'email' },
      },
      required: ['name', 'age'],
    },
  });
  t.match(asked[1], {
    message: /^age must be at least 18\.\n\nThe tool server team asks you:\n\n> Who/,
    requestedSchema: { properties: { age: { type: 'integer' } }, required: ['age'] },
  });
  await use('ask', { what: 'secret' });
  t.match(asked.at(-1)?.message, /> Log in\n\nThis looks like a question for a secret/);
});

t.test('an address is given to the editor with its host', async (t) => {
  let action = 'accept';
  const { asked, log, use } = await start(t, { url: {} }, () => ({ action }));
  t.strictSame(await use('ask', { what: 'page' }), { action: 'accept' });
  t.match(asked, [
    {
      ...{ mode: 'url', url: 'https://pay.example/now', elicitationId: /./ },
      message: 'The tool server team asks you to open a page of pay.example in your browser:\n\n> Pay here',
    },
  ]);
  t.strictSame(await use('ask', { what: 'script' }), { action: 'decline' });
  t.equal(asked.length, 1, 'nobody was asked');
  t.match(log.join(''), /team asked the user to open an address that is not https/);
  action = 'decline';
  t.strictSame(await use('ask', { what: 'page' }), { action: 'decline' });
  action = '_later';
  t.strictSame(await use('ask', { what: 'page' }), { action: 'cancel' }, 'an answer of another protocol');
});

t.test('a server knows how the editor asks, and is not asked for in any other way', async (t) => {
  for (const [modes, known, refused] of [
    [undefined, {}, ['agree', 'page']],
    [{ form: null }, {}, ['agree', 'page']],
    [{ form: {} }, { elicitation: { form: {} } }, ['page']],
    [{ url: {} }, { elicitation: { url: {} } }, ['agree']],
  ] as const) {
    const { asked, use } = await start(t, modes);
    t.strictSame(await use('can_ask'), known);
    for (const what of refused) t.match(await use('ask', { what }), /does not support/);
    t.same(asked, []);
  }
});

t.test('the end of the turn withdraws the question', async (t) => {
  const events = new EventEmitter();
  const isAsked = once(events, 'asked');
  const isWithdrawn = once(events, 'withdrawn');
  const { agent, prompt, sessionId } = await start(t, { form: {} }, async (_, signal) => {
    const aborted = once(signal, 'abort');
    events.emit('asked');
    await aborted;
    events.emit('withdrawn');
    return { action: 'cancel' };
  });
  const turn = prompt('ask', { what: 'agree' });
  await isAsked;
  await agent.notify(call.cancel, { sessionId });
  t.same(await turn, { stopReason: 'cancelled' });
  await isWithdrawn;
});
