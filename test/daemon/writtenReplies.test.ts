import t, { type Test } from 'tap';
import type { Message } from '../../protocol/messages/chat.ts';
import { serverReplies, serverTools } from '../stream/serverReplies.ts';
import { type PairClient, startPair } from '../support/daemonPair.ts';
import { delta, type OpenaiStandIn, startOpenaiStandIn, streaming } from '../support/openaiStandIn.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';

/** What a server sends next. `call` is one that the server reports. */
interface Sent {
  readonly content?: string;
  readonly thinking?: string;
  readonly call?: string;
}

const parameters = {
  type: 'object',
  properties: { path: { type: 'string' }, line: { type: 'string' }, times: { type: 'integer' } },
  required: ['path', 'line'],
};
const tools = [...serverTools, { name: 'append_line', description: 'd', inputSchema: parameters }];
const paid = '{"path":"log.txt","line":"paid"}';
const pair = ['append_line', JSON.parse(paid)];
const element = `<tool_call>\n{"name": "append_line", "arguments": {"line": "paid", "path": "log.txt"}}\n</tool_call>`;
const dsml =
  '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="append_line">\n<｜DSML｜parameter name="path" string="true">log.txt</｜DSML｜parameter>\n<｜DSML｜parameter name="line" string="true">paid</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>';

/** What a server sends, and the calls that run. */
const twice: Readonly<Record<string, readonly [sent: readonly Sent[], calls: readonly unknown[]]>> = {
  'text, then the report': [[{ content: element }, { call: paid }], [pair]],
  'the report, then text': [[{ call: paid }, { content: element }], [pair]],
  'in pieces, around the report': [
    [{ content: element.slice(0, 30) }, { call: paid }, { content: element.slice(30) }],
    [pair],
  ],
  'in the thinking of the text': [[{ content: `<think>I pay.\n${element}</think>` }, { call: paid }], [pair]],
  'in separate thinking': [[{ thinking: `I pay.\n${element}` }, { call: paid }], [pair]],
  'marks of another family': [[{ content: dsml }, { call: paid }], [pair]],
  'a report without arguments': [[{ content: dsml }, { call: '{}' }], [pair]],
  'a report without arguments, first': [[{ call: '{}' }, { content: dsml }], [pair]],
  'a report without arguments, the text in thinking': [
    [{ thinking: `I pay.\n${element}` }, { call: '{}' }],
    [pair],
  ],
  'a report with arguments of another type': [
    [{ call: '{"path":"log.txt","line":"paid","times":"no"}' }, { content: element }],
    [pair],
  ],
  'another call in the text': [
    [{ content: element.replace('paid', 'owed') }, { call: paid }],
    [['append_line', { path: 'log.txt', line: 'owed' }], pair],
  ],
  'another tool in the text': [
    [{ content: '<tool_call>{"name": "ping", "arguments": {}}</tool_call>' }, { call: paid }],
    [['ping', {}], pair],
  ],
  'two reports of one call': [
    [{ call: paid }, { call: paid }],
    [pair, pair],
  ],
  'nothing reported': [[{ content: element }], [pair]],
  'refused, and nothing better': [[{ call: '{}' }, { content: 'So be it.' }], [['append_line', {}]]],
};

t.test('a call that is reported and left in the text is called once', async (t) => {
  const { onWires } = await startWires(t);
  for (const [name, [sent, calls]] of Object.entries(twice))
    for (const { wire, message } of await onWires(sent))
      t.strictSame(callsIn(message), calls, `${name} (${wire})`);
});

t.test('the marks of a reported call are not shown', async (t) => {
  const { onWires } = await startWires(t);
  for (const sent of [
    [{ content: 'I ask.\n<tool_call>' }, { call: paid }, { content: '</tool_call>' }],
    [{ content: 'I ask.\n<tool_call>\n' }, { call: paid }],
  ])
    for (const { wire, message } of await onWires(sent)) {
      t.equal(message.content.trim(), 'I ask.', wire);
      t.strictSame(callsIn(message), [pair], wire);
    }
});

t.test('a call at the end of thinking that text follows is named', async (t) => {
  const { onWires } = await startWires(t);
  const rows: readonly (readonly [sent: readonly Sent[], names: readonly string[]])[] = [
    [[{ content: `<think>I pay.\n${element}\n</think>\nIt is paid.` }], ['tool-call-malformed']],
    [[{ thinking: `I pay.\n${element}` }, { content: 'It is paid.' }], ['tool-call-malformed']],
    [[{ thinking: `I pay.\n${element}\nOr not.` }, { content: 'It is not paid.' }], []],
    [[{ thinking: `I pay.\n${element}` }, { content: 'I pay.' }, { call: paid }], []],
  ];
  for (const [sent, codes] of rows)
    for (const { wire, message, notices } of await onWires(sent)) {
      const named = notices.map(({ code }) => code).filter((code) => code.startsWith('tool-call'));
      t.strictSame(named, codes, `${wire}: ${message.content}`);
    }
});

t.test('what the servers test is read on both wires', async (t) => {
  const { onWires } = await startWires(t);
  const counts = { chats: 0, missed: 0, wrong: 0 };
  let number = 0;
  for (const [family, replies] of Object.entries(serverReplies))
    for (const { reply, text = '', thinking = '', calls = [], opened } of replies) {
      const cut = inPieces(reply);
      // What the daemon learns of a model must not change how the next reply is read.
      const model = `m${number++}:latest`;
      // Two answers show that the template of a model opens thinking.
      for (const content of opened ? ['a\n</think>\nb', 'a\n</think>\nb'] : [])
        await onWires([{ content }], model);
      for (const { wire, message } of await onWires(
        cut.map((content) => ({ content })),
        model,
      )) {
        const found = callsIn(message);
        counts.chats++;
        counts.missed += Math.max(0, calls.length - found.length);
        counts.wrong += Math.max(0, found.length - calls.length);
        const said = [message.content.trim(), (message.thinking ?? '').trim(), found];
        t.strictSame(said, [text.trim(), thinking, calls], `${family}, ${wire}: ${reply}`);
      }
    }
  t.comment(JSON.stringify(counts));
});

/** In pieces of a fixed random order; `formats.test.ts` reads the same replies in others. */
function inPieces(text: string): readonly string[] {
  let [seed, at] = [text.length, 0];
  const random: string[] = [];
  while (at < text.length) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const end = at + 1 + (seed % 11);
    random.push(text.slice(at, end));
    at = end;
  }
  return random;
}

const bern = '{"station":"Bern"}';
const named = (given: object, more: object = {}) => ({
  tool_calls: [{ index: 0, id: 'c', function: given, ...more }],
});
const train = [['next_train', { station: 'Bern' }]];
const thought = 'Three squared.';

/** Deltas of servers and gateways, and what they say: text, thinking and calls. */
const deltas: Readonly<Record<string, readonly [sent: readonly object[], want: readonly unknown[]]>> = {
  'details of reasoning (text)': [
    [{ content: '', reasoning_details: [{ type: 'reasoning.text', text: thought }] }, { content: '9.' }],
    ['9.', thought, []],
  ],
  'details of reasoning (summary)': [
    [{ reasoning_details: [{ type: 'reasoning.summary', summary: thought }] }, { content: '9.' }],
    ['9.', thought, []],
  ],
  'blocks of thinking': [
    [{ content: '', thinking_blocks: [{ type: 'thinking', thinking: thought }] }, { content: '9.' }],
    ['9.', thought, []],
  ],
  'fields of the provider': [
    [{ provider_specific_fields: { reasoning_content: thought } }, { content: '9.' }],
    ['9.', thought, []],
  ],
  'a field of thinking': [
    [{ thinking: thought }, { content: '9.' }],
    ['9.', thought, []],
  ],
  'reasoning as text': [
    [{ reasoning_text: thought }, { content: '9.' }],
    ['9.', thought, []],
  ],
  'two names for the same': [
    [
      { reasoning: thought, reasoning_details: [{ type: 'reasoning.text', text: thought }] },
      { content: '9.' },
    ],
    ['9.', thought, []],
  ],
  'the open tag at the beginning of thinking': [
    [{ reasoning_content: '<thi' }, { reasoning_content: `nk>\n${thought}` }, { content: '9.' }],
    ['9.', thought, []],
  ],
  'what only begins like the tag': [
    [{ reasoning_content: '<th' }, { reasoning_content: 'e root>' }, { content: '9.' }],
    ['9.', '<the root>', []],
  ],
  'thinking that holds its end and the answer': [
    [{ reasoning_content: `${thought}\n</thi` }, { reasoning_content: 'nk>\n\nIt is 9.' }],
    ['It is 9.', `${thought}\n</think>\n\nIt is 9.`, []],
  ],
  'thinking that names the tag, before an answer': [
    [{ reasoning_content: 'A </think> ends it. So.' }, { content: 'It is 9.' }],
    ['It is 9.', 'A </think> ends it. So.', []],
  ],
  'the same thinking in the text': [
    [
      { content: '<think>\n' },
      { content: 'Three ', reasoning_content: 'Three ' },
      { content: 'squared.\n', reasoning_content: 'squared.' },
      { content: '</think>\n\n9.' },
    ],
    ['9.', thought, []],
  ],
  'other thinking in the text': [
    [{ reasoning_content: 'Three' }, { content: '<think>squared.</think>9.' }],
    ['9.', 'Threesquared.', []],
  ],
  'blank lines before the answer': [
    [{ reasoning_content: thought }, { content: '\n\n' }, { content: '9.\n\nYes.' }],
    ['9.\n\nYes.', thought, []],
  ],
  'a refusal': [[{ content: null, refusal: 'I cannot.' }], ['I cannot.', '', []]],
  'one call without a list': [
    [
      { tool_calls: { index: 0, id: '', function: { name: 'next_train', arguments: '' } } },
      { tool_calls: { index: 0, id: '', function: { name: null, arguments: bern } } },
    ],
    ['', '', train],
  ],
  'an index as text': [
    [
      named({ name: 'ping', arguments: '{}' }, { index: '0' }),
      named({ name: 'next_train', arguments: bern }, { index: '1' }),
    ],
    ['', '', [['ping', {}], ...train]],
  ],
  'a name in pieces': [
    [named({ name: 'next_', arguments: '' }), named({ name: 'train' }), named({ arguments: bern })],
    ['', '', train],
  ],
  'a name in each piece': [
    [
      named({ name: 'next_train', arguments: '{"station":' }),
      named({ name: 'next_train', arguments: '"Bern"}' }),
    ],
    ['', '', train],
  ],
  'the older call of a function': [
    [{ function_call: { name: 'next_train', arguments: '' } }, { function_call: { arguments: bern } }],
    ['', '', train],
  ],
  'both kinds of call': [
    [
      {
        function_call: { name: 'next_train', arguments: bern },
        ...named({ name: 'next_train', arguments: bern }),
      },
    ],
    ['', '', train],
  ],
};

t.test('thinking under other names, and calls in other shapes', async (t) => {
  const openai = await startOpenaiStandIn({ 'GET /v1/models': { data: [{ id: 'm' }] } });
  const daemon = await startPair({ host: `${openai.url}/v1` });
  t.teardown(async () => {
    await daemon.close();
    await openai.close();
  });
  const answer = async (events: readonly object[]) => {
    openai.routes['POST /v1/chat/completions'] = streaming(events);
    const { message } = (
      await daemon.chat({ model: 'm', messages: [{ role: 'user', content: 'hi' }], tools })
    ).result;
    return [message.content, message.thinking ?? '', callsIn(message)];
  };
  for (const [name, [sent, want]] of Object.entries(deltas))
    t.strictSame(await answer([...sent.map((one) => delta(one)), delta({}, 'stop')]), want, name);
  const last = {
    choices: [{ index: 0, message: { role: 'assistant', content: '9.' }, finish_reason: 'stop' }],
  };
  t.strictSame(await answer([last]), ['9.', '', []], 'a message in place of a delta');
});

function callsIn({ toolCalls = [] }: Message): readonly unknown[] {
  return toolCalls.map(({ name, arguments: given }) => [name, given]);
}

/** The same answer of a server of each wire, as the daemon passes it on. */
async function startWires(t: Test) {
  const ollama = await startStandIn({
    models: [{ name: 'm:latest', capabilities: ['completion', 'tools'] }],
  });
  const openai = await startOpenaiStandIn({ 'GET /v1/models': { data: [{ id: 'm' }] } });
  const daemons = [
    await startPair({ host: ollama.url }),
    await startPair({ host: `${openai.url}/v1` }),
  ] as const;
  t.teardown(async () => {
    for (const one of [...daemons, ollama, openai]) await one.close();
  });
  return {
    onWires: (sent: readonly Sent[], model = 'm') => answersOf({ ollama, openai, daemons }, sent, model),
  };
}

interface Wires {
  readonly ollama: RunnerStandIn;
  readonly openai: OpenaiStandIn;
  readonly daemons: readonly [PairClient, PairClient];
}

async function answersOf(
  { ollama, openai, daemons: [first, second] }: Wires,
  sent: readonly Sent[],
  model: string,
) {
  ollama.rawLines([...sent.map(toLine), { message: { content: '' }, done: true, done_reason: 'stop' }]);
  openai.routes['POST /v1/chat/completions'] = streaming([...sent.map(toDelta), delta({}, 'stop')]);
  const asked = { model, messages: [{ role: 'user' as const, content: 'hi' }], tools };
  return [
    { wire: 'ollama', ...(await first.chat(asked)).result },
    { wire: 'openai', ...(await second.chat(asked)).result },
  ];
}

function toLine({ content = '', thinking, call }: Sent): object {
  const calls =
    call === undefined
      ? {}
      : { tool_calls: [{ function: { name: 'append_line', arguments: JSON.parse(call) } }] };
  return { message: { role: 'assistant', content, ...(thinking && { thinking }), ...calls }, done: false };
}

let count = 0;
function toDelta({ content, thinking, call }: Sent): object {
  const calls =
    call === undefined
      ? {}
      : { tool_calls: [{ index: count++, function: { name: 'append_line', arguments: call } }] };
  return delta({ ...(content && { content }), ...(thinking && { reasoning_content: thinking }), ...calls });
}
