import * as fc from 'fast-check';
import t from 'tap';
import { editMessages } from '../../daemon/edit/editPrompt.ts';
import { EditReply, type EndedReply } from '../../daemon/edit/editReply.ts';
import { type EditDelta, type EditParams, editDelta, editRequest } from '../../protocol/messages/edit.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';

/** Each string is a line. */
const lines = (...all: readonly string[]) => all.join('\n');

function read(reply: readonly string[], original = ''): EndedReply & { readonly streamed: string } {
  const reader = new EditReply(original);
  const streamed = reply.map((piece) => reader.add(piece)).join('');
  return { ...reader.end(), streamed };
}

t.test('the new lines are those of the first code block', async (t) => {
  const cases: readonly { name: string; reply: string; original?: string; want: string }[] = [
    { name: 'a block alone', reply: lines('```lua', 'a', 'b', '```'), want: lines('a', 'b') },
    { name: 'prose around it', reply: lines('Sure:', '', '```', 'a', '```', '', 'I did it.'), want: 'a' },
    { name: 'a second block', reply: lines('```', 'a', '```', 'Use it:', '```', 'b', '```'), want: 'a' },
    { name: 'blank lines are lines', reply: lines('```', '', 'a', '', '```'), want: lines('', 'a', '') },
    { name: 'an empty block deletes', reply: lines('```', '```'), want: '' },
    { name: 'line ends of Windows', reply: '```js\r\na\r\nb\r\n```\r\n', want: lines('a', 'b') },
    { name: 'lines of Windows to change', reply: '```\na\nb\n```', original: 'x\r\ny', want: 'a\r\nb' },
    { name: 'the end of the last line', reply: '```\na\nb\n```', original: 'x\ny\n', want: 'a\nb\n' },
    { name: 'deleted with their end', reply: '```\n```', original: 'x\n', want: '' },
    { name: 'a block that never ends', reply: lines('```', 'a', 'b'), want: lines('a', 'b') },
    { name: 'tildes', reply: lines('~~~ js', '```', 'a', '~~~'), want: lines('```', 'a') },
    {
      name: 'a longer fence',
      reply: lines('````', '```', 'a', '```', '````'),
      want: lines('```', 'a', '```'),
    },
    {
      name: 'an indented block',
      reply: lines('1.', '  ```', '  a', '    b', '  ```'),
      want: lines('a', '  b'),
    },
    {
      name: 'a block in a comment',
      reply: lines('```py', '"""', '```python', 'f()', '```', '"""', '```', 'So.'),
      want: lines('"""', '```python', 'f()', '```', '"""'),
    },
    {
      name: 'Markdown with blocks, fenced as they are',
      original: lines('# A', '```', 'x', '```'),
      reply: lines('```md', '# B', '```', 'x', '```', 'end', '```', 'That is all.'),
      want: lines('# B', '```', 'x', '```', 'end'),
    },
    {
      name: 'Markdown with blocks, in a longer fence',
      original: lines('```', 'x', '```'),
      reply: lines('````', '```', 'y', '```', '````', '', '```', 'no', '```'),
      want: lines('```', 'y', '```'),
    },
    {
      name: 'an indentation that was lost',
      original: lines('    if a:', '', '        b()'),
      reply: lines('```', 'if a:', '    c()', '', 'd()', '```'),
      want: lines('    if a:', '        c()', '', '    d()'),
    },
    {
      name: 'tabs',
      original: lines('\t\ta', '\tb'),
      reply: lines('```', '\tx', '```'),
      want: '\tx',
    },
    { name: 'three do', reply: lines('   ```', '    a', 'b', '```', 'c'), want: lines(' a', 'b') },
    { name: 'a shorter fence', reply: lines('~~~~', '~~~', '~~~~', 'b'), want: '~~~' },
    {
      name: 'blocks one after another within',
      reply: lines('```md', '```js', 'a', '```', '```sh', '```c', 'b', '```', '```', '```', 'no'),
      want: lines('```js', 'a', '```', '```sh', '```c', 'b', '```', '```'),
    },
    {
      name: 'the indentation that all lines share, blank ones aside',
      original: lines('  \ta', ' ', '  b', '   c'),
      reply: lines('```', ' ', 'x', '  y', '```'),
      want: lines(' ', '  x', '    y'),
    },
  ];
  for (const { name, reply, original, want } of cases) {
    const { text, isWithoutBlock, streamed } = read([reply], original);
    t.equal(text, want, name);
    t.equal(isWithoutBlock, false, name);
    t.ok(want.startsWith(streamed), `${name}: ${streamed}`);
  }
});

t.test('without a block, the whole reply counts, once it is over', async (t) => {
  t.match(read(['\n  \n  a\n\nb', '\n\n']), {
    text: lines('  a', '', 'b'),
    isWithoutBlock: true,
    streamed: '',
  });
  t.match(read(['x = `y`']), { text: 'x = `y`', isWithoutBlock: true });
  t.match(read([' \n', '']), { text: '', isWithoutBlock: true });
  t.match(read(['\n\n', '\n']), { text: '', isWithoutBlock: true });
  t.match(read(['a\n \n']), { text: 'a', isWithoutBlock: true });
  t.match(read(['a'], '\tb'), { text: '\ta', isWithoutBlock: true });
});

t.test('a block is whole as soon as nothing that follows can belong to it', async (t) => {
  const wholeAfter = (original: string, ...pieces: readonly string[]) => {
    const reader = new EditReply(original);
    return pieces.map((piece) => {
      reader.add(piece);
      return reader.isWhole;
    });
  };
  t.strictSame(wholeAfter('', 'So:\n', '```\n', 'a\n', '```', '\n', 'b\n'), [
    ...[false, false, false, false],
    ...[true, true],
  ]);
  t.strictSame(wholeAfter('```', '```\na\n```\n', '```\n'), [false, false], 'the last fence closes it');
});

t.test('lines of a block are returned as soon as they are whole', async (t) => {
  const reader = new EditReply('    a');
  const pieces = ['So:\n``', '`lu', 'a\nlo', 'cal\n', '\n  b', '\n``', '`\nmore', '\n'];
  t.strictSame(
    pieces.map((piece) => reader.add(piece)),
    ['', '', '', '    local', '\n', '\n      b', '', ''],
  );
});

t.test('any cut of a reply gives the same text, in linear time', async (t) => {
  const part = fc.constantFrom(
    ...['```', '````', '~~~', '\n', '\r', ' ', '\t', 'a', 'js', '`', '\u00e9', '\ud83d'],
  );
  const reply = fc.array(part, { maxLength: 60 });
  fc.assert(
    fc.property(reply, reply, (parts, original) => {
      const whole = read([parts.join('')], original.join(''));
      const cut = read(parts, original.join(''));
      t.strictSame([cut.text, cut.isWithoutBlock], [whole.text, whole.isWithoutBlock]);
      t.ok(cut.text.startsWith(cut.streamed) || cut.isWithoutBlock);
    }),
  );
  for (const hostile of ['```\n', '```js\n', '`', '``` ', ' ', '\n', 'a', '```\na\n'])
    t.ok(read(Array<string>(200_000).fill(hostile), hostile), 'it comes to an end');
});

t.test('what the model is sent', async (t) => {
  const file = { path: 'a.md', language: 'markdown', uris: ['file:///a.md'] };
  const [task] = editMessages(
    { ...file, instruction: 'Shorten it', text: '````\nx\n````', before: 'one', after: 'two' },
    false,
  );
  t.match(task?.content, '`````markdown\n````\nx\n````\n`````', 'the fence is longer than those within');
  t.match(task?.content, 'Shorten it');
  t.strictSame(task?.attachments, [{ ...file, text: 'one\n````\nx\n````\ntwo', automatic: true }]);

  const [alone] = editMessages({ ...file, instruction: 'i', text: 'x', before: ' \n' }, false);
  t.equal(alone?.attachments, undefined, 'nothing surrounds it');
  const [hidden] = editMessages({ ...file, instruction: 'i', text: 'x', before: 'key' }, true);
  t.notMatch(JSON.stringify(hidden), 'key');
  t.equal(hidden?.attachments?.[0]?.automatic, undefined, 'the user is notified');

  const [fresh] = editMessages({ instruction: 'a sum', text: '  ', before: 'b', after: 'a' }, false);
  t.match(fresh?.content, 'a sum');
  t.equal(fresh?.attachments?.[0]?.text, 'b\n[the new lines stand here]\na');

  const surrounded = (before: string, after: string) =>
    editMessages({ instruction: 'i', text: 'y', before, after }, false)[0]?.attachments?.[0]?.text;
  const [most, more] = [`a\n${'x'.repeat(5_998)}`, `a\n${'x'.repeat(5_999)}`];
  t.equal(surrounded(most, ''), `${most}\ny`);
  t.equal(surrounded(more, ''), `${more.slice(2)}\ny`);
  const [mostAfter, moreAfter] = [`${'x'.repeat(2_998)}\na`, `${'x'.repeat(2_998)}\nab`];
  t.equal(surrounded('', mostAfter), `y\n${mostAfter}`);
  t.equal(surrounded('', moreAfter), `y\n${'x'.repeat(2_998)}`);
  t.equal(surrounded('', 'x'.repeat(3_001)), 'y', 'no part of a line');

  const line = `${'x'.repeat(99)}\n`;
  const [long] = editMessages(
    { instruction: 'i', text: 'y', before: line.repeat(500), after: line.repeat(500) },
    false,
  );
  const around = long?.attachments?.[0]?.text.split('\n') ?? [];
  t.ok(around.length > 50 && around.length < 100, 'only the nearest lines');
  t.ok(
    around.every((one) => one === '' || one === 'y' || one.length === 99),
    'and only whole ones',
  );
});

const models = [{ name: 'able:latest', capabilities: ['completion', 'thinking'] as const }];
const asked = { model: 'able:latest', instruction: 'Count to two', text: '  one', path: 'a.txt' };

async function setUp(t: Teardown) {
  const { runner, daemon } = await startDaemonWithRunner(
    t,
    {},
    {
      standIn: { models: models.map((model) => ({ ...model, capabilities: [...model.capabilities] })) },
    },
  );
  const deltas: EditDelta[] = [];
  daemon.on(editDelta, (delta) => deltas.push(delta));
  const edit = (more: Partial<EditParams> = {}, signal?: AbortSignal) =>
    daemon.request(editRequest, { streamId: 'e', ...asked, ...more }, signal);
  return { runner, daemon, deltas, edit };
}

t.test('an edit over the wire', async (t) => {
  const { runner, deltas, edit } = await setUp(t);
  runner.say(['Here:\n', '```\n', 'one\n', 'two\n', '```'], { thinking: 'Hm.' });
  const { usage, ...result } = await edit({ before: 'zero', options: { temperature: 0 } });
  t.strictSame(result, { finishReason: 'stop', text: '  one\n  two', notices: [] });
  t.ok(usage.completionTokens > 0);
  t.match(deltas[0], { streamId: 'e', seq: 0, kind: 'thinking', text: 'Hm.' });
  t.equal(deltas.flatMap((delta) => (delta.kind === 'text' ? delta.text : [])).join(''), result.text);
  t.strictSame(
    deltas.map(({ seq }) => seq),
    deltas.map((_, index) => index),
  );
  t.match(runner.bodies('/api/chat').at(-1), {
    messages: [
      { role: 'system', content: /zero\n {2}one/ },
      { role: 'user', content: /Count to two[\s\S]*one code block/ },
    ],
    options: { temperature: 0 },
  });
});

t.test('the model is stopped when its block has ended', async (t) => {
  const { runner, edit } = await setUp(t);
  runner.say(['```\n', 'one\n', '```\n', ...Array<string>(200).fill('This is what I did.\n')], {
    perSecond: 50,
  });
  t.match(await edit(), { finishReason: 'stop', text: '  one' });
  await runner.waitFor(({ aborted }) => aborted);
});

t.test('a reply without a block has a notice, and an empty one is an error', async (t) => {
  const { runner, edit } = await setUp(t);
  runner.say('  one and two');
  t.match(await edit(), { text: '  one and two', notices: [{ code: 'edit-without-block' }] });
  runner.say(' \n');
  await t.rejects(edit(), failsWith({ data: { kind: 'bad-response' } }));
  runner.failWith(500);
  await t.rejects(edit(), failsWith({ data: { kind: 'runner-failed' } }));
});

t.test('the user learns who gets lines of a private file, and nothing else of it is sent', async (t) => {
  const { runner, deltas, edit } = await setUp(t);
  runner.say('```\nb\n```');
  const { notices } = await edit({ path: '.env', uris: ['file:///x/.env'], before: 'TOKEN=1' });
  t.match(notices, [{ code: 'private-files-sent', message: /\.env looks like a file with secrets.*able/ }]);
  t.strictSame(
    deltas.flatMap((delta) => (delta.kind === 'notice' ? [delta.notice] : [])),
    notices,
    'while the model writes',
  );
  t.notMatch(JSON.stringify(runner.bodies('/api/chat')), 'TOKEN');
});

t.test('a cancelled edit is a normal result, and the runner sees it', async (t) => {
  const { runner, daemon, edit } = await setUp(t);
  runner.say(['```\n', 'one\n', ...Array<string>(100).fill('more\n')], { perSecond: 20 });
  const cancel = new AbortController();
  daemon.on(editDelta, (delta) => {
    if ('text' in delta && delta.text.includes('one')) cancel.abort();
  });
  t.match(await edit({}, cancel.signal), { finishReason: 'cancelled', text: /^ {2}one/ });
  await runner.waitFor(({ aborted }) => aborted);
});

t.test('an answer that is cut at its limit is taken as it is, unless its block has ended', async (t) => {
  const { runner, edit } = await setUp(t);
  const cut = (content: string) =>
    runner.on('/api/chat').rawLines(
      `${JSON.stringify({
        message: { role: 'assistant', content },
        done: true,
        done_reason: 'length',
        prompt_eval_count: 9,
        eval_count: 9,
      })}\n`,
    );
  for (const [content, want] of [
    ['```\none\ntw', { finishReason: 'length', text: '  one\n  tw' }],
    ['```\none\n```\n', { finishReason: 'stop', text: '  one' }],
    [' \n', { finishReason: 'length', text: '' }],
    ['two', { finishReason: 'length', text: '  two' }],
  ] as const) {
    cut(content);
    const { finishReason, text, notices } = await edit();
    t.strictSame({ finishReason, text, notices }, { ...want, notices: [] }, content);
  }
});

t.test('one edit at a time has a stream, and the status shows that somebody waits', async (t) => {
  const { runner, daemon, edit } = await setUp(t);
  runner.say(['```\n', 'one\n', ...Array<string>(100).fill('more\n')], { perSecond: 20 });
  const cancel = new AbortController();
  const refusals: unknown[] = [];
  daemon.on(editDelta, (delta) => {
    if (!('text' in delta && delta.text.includes('one'))) return;
    const again = edit().catch((error: Error) => refusals.push(error.message));
    void again.then(() => cancel.abort());
  });
  t.match(await edit({}, cancel.signal), { finishReason: 'cancelled' });
  t.match(refusals, [/"streamId" is not valid: another running chat or edit already uses it/]);
  runner.say('```\nb\n```');
  t.match(await edit(), { text: '  b' }, 'then it is free');
});

t.test('wrong parameters are named', async (t) => {
  const { edit } = await setUp(t);
  await t.rejects(edit({ instruction: ' ' }), { message: /"instruction" is not valid: it is empty/ });
  await t.rejects(edit({ streamId: '' }), { message: /"streamId"/ });
  await t.rejects(edit({ server: 'nowhere' }), { message: /"server"/ });
});
