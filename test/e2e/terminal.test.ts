import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startEmbeddings } from '../support/embeddingsStandIn.ts';
import { needs } from '../support/parts.ts';
import { closeServer, portOf } from '../support/recordings.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { where } from '../support/systems.ts';
import { openScreen } from '../support/tmux.ts';

const terminalPath = join('dist', 'terminal.cjs');
const home = mkdtempSync(join(tmpdir(), 'runner-terminal-'));
t.teardown(() => rmSync(home, { recursive: true, force: true }));
const environment = {
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  XDG_STATE_HOME: join(home, 'state'),
  LANG: 'C.UTF-8',
  EDITOR: 'echo own editor >>',
};

const line = (message: object) =>
  `${JSON.stringify({ model: 'm', message: { role: 'assistant', content: '', ...message }, done: false })}\n`;
const last = (reason = 'stop') =>
  `${JSON.stringify({ model: 'm', message: { role: 'assistant', content: '' }, done: true, done_reason: reason, prompt_eval_count: 3, eval_count: 2 })}\n`;

/** A runner with one model, whose chats the test answers. */
async function startRunner(
  chat: (response: ServerResponse, body: { messages: { content: string }[] }) => void,
) {
  const routes: Record<string, string> = {
    '/api/version': '{"version":"1.2.3"}',
    '/api/tags': JSON.stringify({
      models: [
        {
          name: 'm:latest',
          size: 4e9,
          digest: 'a'.repeat(64),
          modified_at: '2026-11-01T00:00:00Z',
          details: { family: 'x', parameter_size: '4B', quantization_level: 'Q4', context_length: 32768 },
          capabilities: ['completion', 'thinking'],
        },
        {
          name: 'hf.co/a-rather-long-owner/an-even-longer-model-name-GGUF:Q4_K_M',
          size: 8e9,
          digest: 'b'.repeat(64),
          capabilities: ['completion', 'tools'],
        },
      ],
    }),
    '/api/ps': JSON.stringify({
      models: [
        {
          name: 'm:latest',
          size: 4e9,
          size_vram: 4e9,
          context_length: 4096,
          expires_at: '2099-01-01T00:00:00Z',
        },
      ],
    }),
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const known = routes[request.url ?? ''];
    if (known) {
      response.end(known);
      return;
    }
    if (request.url !== '/api/chat') {
      response.statusCode = 404;
      response.end('{"error":"not here"}');
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.on('end', () => chat(response, JSON.parse(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => closeServer(server));
  return `http://127.0.0.1:${portOf(server)}`;
}

async function run(
  args: readonly string[],
  { input = '', signalAt = '', env = {}, program = terminalPath } = {},
) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...environment, ...env },
    stdio: 'pipe',
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    if (signalAt !== '' && stdout.includes(signalAt)) child.kill('SIGINT');
  });
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return {
    code,
    stdout,
    stderr,
    events: () =>
      stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text)),
  };
}

t.test('a piped prompt gets the answer on standard output, and nothing else', async (t) => {
  const asked: string[] = [];
  const url = await startRunner((response, { messages }) => {
    asked.push(messages.at(-1)?.content ?? '');
    response.end(
      line({ thinking: 'hm' }) + line({ content: '# Hi\n' }) + line({ content: 'a < b' }) + last(),
    );
  });
  const plain = await run(['chat', '--server', url], { input: 'hello\n' });
  t.equal(plain.code, 0, plain.stderr);
  t.match(plain.stdout, /^# Hi\na < b\n?$/);
  const both = await run(['chat', '--server', url, 'Explain', 'this:'], { input: 'some code' });
  t.equal(both.code, 0);
  t.match(asked[1] ?? '', /^Explain this:\n\nsome code$/);
});

t.test('an error is a sentence on standard error, an exit code and the last event', async (t) => {
  const url = await startRunner((response) => {
    response.write(line({ content: 'half' }));
    response.end('{"error":"model runner has unexpectedly stopped"}\n');
  });
  const plain = await run(['chat', '--server', url], { input: 'hello' });
  t.equal(plain.code, 1);
  t.match(plain.stdout, /^half/);
  t.match(plain.stderr, /unexpectedly stopped/);
  const unread = spawn(process.execPath, [terminalPath, 'nonsense'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  unread.stderr.destroy();
  t.strictSame(await once(unread, 'exit'), [2, null], 'a reader that went away makes no failure a success');
  for (const args of [['nonsense'], ['chat', '--nonsense'], ['chat', '--server', url]]) {
    const wrong = await run(args, { input: '' });
    t.equal(wrong.code, 2, args.join(' '));
    t.not(wrong.stderr, '');
    t.equal(wrong.stdout, '');
  }
});

// Where a cache is differs on Windows.
t.test(
  'pages are found by their meaning, and the model gets the addresses of their sections',
  where('slashes'),
  async (t) => {
    const embeddings = await startEmbeddings();
    t.teardown(() => embeddings.close());
    const runner = await startStandIn();
    t.teardown(() => runner.close());
    const env = { DOCS_EMBEDDINGS: embeddings.url, DOCS_EMBEDDINGS_MODEL: 'm' };
    const data = join(home, '.cache', 'runner', 'docs');
    const program = join('dist', 'runner-docs.cjs');
    t.match(await run(['index', '--content', 'docs', '--data', data], { env, program }), {
      stdout: /documents embedded/,
    });
    runner.toolCalls([{ name: 'search_docs', arguments: { query: 'ovenfresh loaves keep how?' } }]);
    runner.say('The pages do not say.');
    const args = ['chat', '--server', runner.url, '--tools', 'docs', 'How do I keep bread?'];
    const { code, stdout } = await run(args, { env });
    t.match(stdout, /The pages do not say\./);
    t.equal(code, 0);
    const told = JSON.stringify(runner.bodies('/api/chat').at(-1));
    t.match(told, /docs:\/\/doc\/[\w-]+#[\w-]+/);
    t.match(told, /matched[\\":]+(?:meaning|both)/);
  },
);

t.test('an interrupt cuts the answer, keeps it and ends with 130', where('sh'), async (t) => {
  let onClose: (() => void) | undefined;
  const closed = new Promise<void>((resolve) => (onClose = resolve));
  const url = await startRunner((response) => {
    response.on('close', () => onClose?.());
    response.write(line({ content: 'begun ' }) + line({ content: 'and going\n' }));
  });
  const cut = await run(['chat', '--server', url], { input: 'hello', signalAt: 'going' });
  t.equal(cut.code, 130, cut.stderr);
  t.match(cut.stdout, /^begun and going/);
  await closed;
  t.pass('the runner saw it');
});

t.test('a conversation in a real terminal', needs('tmux'), async (t) => {
  let onClose: (() => void) | undefined;
  const closed = new Promise<void>((resolve) => {
    onClose = resolve;
  });
  const url = await startRunner((response, { messages }) => {
    const asked = messages.at(-1)?.content ?? '';
    response.on('close', () => {
      if (!response.writableFinished) onClose?.();
    });
    if (asked.includes('endless')) response.write(line({ content: 'on and on and ' }));
    else
      response.end(
        line({ thinking: 'I ponder.' }) + line({ content: `You said **${asked}** \u001b[31mred` }) + last(),
      );
  });
  const screen = openScreen([process.execPath, terminalPath, '--server', url], environment);
  t.teardown(() => screen.close());
  // Until the next line can be typed, control keys go nowhere.
  const prompt = /m:latest › *\n*$/;
  await screen.until(prompt);
  screen.type('hello there');
  screen.press('Enter');
  const first = await screen.until(/You said hello there/);
  t.match(first, /I ponder\./);
  t.notMatch(first, /\*\*hello/, 'Markdown is rendered');
  await screen.until(prompt);
  // There is no shell here that could let a stopped program go on: so nothing stops, and the keyboard lives.
  screen.press('C-z');
  screen.type('endless');
  screen.press('Enter');
  await screen.until(/on and on/);
  screen.press('C-c');
  await screen.until(/cancel/i);
  await closed;
  t.pass('the runner saw the cancel');
  await screen.until(prompt);
  screen.type('what is @READ');
  screen.press('Tab');
  await screen.until(/what is @README\.md/);
  screen.press('Enter');
  await screen.until(/Attached README\.md, [\d.]+ kB, about [\d,]+ tokens\.[\s\S]*what is @README\.md\*\*/);
  screen.type('/edit');
  screen.press('Enter');
  await screen.until(/\/edit\n[^\n]* › what is @README\.md\n/);
  screen.type(', in short');
  screen.press('Enter');
  await screen.until(/what is @README\.md, in short\*\*/);
  screen.type('/fork 1');
  screen.press('Enter');
  await screen.until(/new conversation with 1 turn\./);
  screen.type('/resume endless');
  screen.press('Enter');
  await screen.until(/Which conversation\? endless\n› hello there +[23] turns[\s\S]*Esc leaves/);
  screen.press('Enter');
  await screen.until(/Going on with "hello there", [23] turns/);
  await screen.until(prompt);
  screen.type('in my');
  screen.press('C-x', 'C-e');
  await screen.until(/› in my␤own editor$/m);
  screen.press('Enter');
  await screen.until(/You said in my\s+own editor/);
  await screen.until(prompt);
  screen.press('C-r');
  screen.type('hello');
  await screen.until(/search "hello": hello there$/m);
  screen.press('C-g');
  await screen.until(prompt);
  screen.type('/model');
  screen.press('Enter');
  await screen.until(/GGUF/);
  screen.type('/bye');
  screen.press('Enter');
  t.equal(await screen.ended(), 0);
});
