import { methods } from '@agentclientprotocol/sdk';
import t from 'tap';
import { listModelsRequest } from '../../protocol/messages/models.ts';
import { createSessionRequest } from '../../protocol/messages/sessions.ts';
import { startAcpPair } from '../support/acpPair.ts';
import { startDaemonWithRunner } from '../support/daemonWithRunner.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { startTerminal } from '../terminal/terminalPeer.ts';

/** What only a mistake in the program can throw. The stack is for developers, and appears only in the log. */
const aDefect = new TypeError('undefined is not a clock');
const stack = /TypeError: undefined is not a clock\n\s+at /;
const anyStack = /\n\s*at |undefined is not a clock/;
const sentence = 'The daemon could not do this because of a defect of its own. See its log for details.';

/** A clock that works until it is broken. */
function brittleClock() {
  let isBroken = false;
  return {
    break: () => void (isBroken = true),
    now() {
      if (isBroken) throw aDefect;
      return Date.now();
    },
  };
}

t.test('a defect in a request is a sentence for the client, and its stack is in the log', async (t) => {
  const clock = brittleClock();
  const { daemon } = await startDaemonWithRunner(t, {}, { pair: { now: clock.now } });
  clock.break();
  const error = await daemon.request(createSessionRequest, {}).catch((failure) => failure);
  t.equal(error.code, -32603);
  t.equal(error.message, sentence);
  t.notMatch(JSON.stringify(error.data ?? {}), anyStack);
  await daemon.request({ method: 'runner/status' }, {});
  const logged = daemon.logs.filter(({ level }) => level === 'error').map(({ message }) => message);
  t.match(logged, [/^runner\/\S+ failed inside the daemon: /]);
  t.match(logged[0], stack);
});

t.test('a defect in a request over ACP is the same sentence, and its stack is in the log', async (t) => {
  const clock = brittleClock();
  const runner = await startStandIn();
  t.teardown(() => runner.close());
  const state = await temporaryFolder(t);
  const { agent, log } = await startAcpPair(t, { host: runner.url, state, now: clock.now });
  clock.break();
  const asked = agent.request(methods.agent.session.new, { cwd: state, mcpServers: [] });
  const error = await asked.catch((failure) => failure);
  t.equal(error.code, -32603);
  t.equal(error.message, sentence);
  t.notMatch(JSON.stringify(error.data ?? {}), anyStack);
  t.match(log.join(''), /^runnerd: error: session\/new failed inside the daemon: /m);
  t.match(log.join(''), stack);
});

t.test('the terminal shows a defect as one line', async (t) => {
  const answers = {
    [listModelsRequest.method]() {
      throw new TypeError('no such thing\n    at somewhere (x.ts:1:1)\n    at elsewhere (x.ts:2:1)');
    },
  };
  for (const args of [['models'], ['models', '--json']]) {
    const terminal = startTerminal({ args, answers });
    t.equal(await terminal.ended, 1);
    t.match(terminal.stderr.text(), /no such thing/);
    t.equal(terminal.stderr.text().trimEnd().split('\n').length, 1, args.join(' '));
    t.notMatch(terminal.stdout.text(), /\n\s*at |"stack"/);
  }
});
