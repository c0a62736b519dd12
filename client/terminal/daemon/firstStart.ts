import { showLine } from '../../../protocol/base/text.ts';
import {
  type EngineFetch,
  type EngineProduct,
  type EngineWay,
  engineInstallRequest,
  engineOffersRequest,
  engineSampleRequest,
  engineStartRequest,
} from '../../../protocol/messages/engine.ts';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import { chatModelRequest, pullModelRequest } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { describeFound, type FoundRunner, setHostRequest } from '../../../protocol/messages/status.ts';
import type { CommandContext } from '../cli/command.ts';
import { failureOf } from '../cli/failure.ts';
import { askKey, askLine, isYes } from '../cli/question.ts';
import { ForceQuitError, type Terminal } from '../cli/terminal.ts';
import type { DaemonClient } from './daemon.ts';
import { requestWork } from './work.ts';

/** A runner answers now, or the practice runner is to answer. Undefined: another key is to be pressed. */
type Choice = 'started' | 'practice' | undefined;

/** One way to a runner, behind one key. */
interface Way {
  readonly key: string;
  /** What the key does. */
  readonly label: string;
  readonly go: () => Promise<Choice>;
}

/**
 * Offers what there is on this machine to someone who has no runner: each with one key. What was
 * started runs as long as the daemon. `problem` is what is wrong with the usual runner, if nobody has said it yet. The
 * result is undefined if the daemon has nothing to offer; then nothing was said.
 * @throws {ForceQuitError} after Ctrl-C.
 */
export async function offerStart(
  context: CommandContext,
  daemon: DaemonClient,
  problem: string | undefined,
): Promise<Choice> {
  const { stderr } = context.terminal;
  // A daemon that cannot start anything refuses to say.
  const offers = await daemon.request(engineOffersRequest, {}).catch(() => undefined);
  if (!offers) return undefined;
  const offered = offers.ways;
  const ways = [...offered.map((way) => keyed(context, daemon, way)), ...ownWays(context, offered)];
  if (problem !== undefined) await stderr.writeText(problem);
  await stderr.writeText('What would you like?');
  for (;;) {
    await stderr.writeLine('');
    for (const { key, label } of ways)
      await stderr.writeText(`  ${stderr.style.bold(key)}  ${showLine(label)}`);
    const choices = ways.map(({ key }) => key);
    const pressed = await askKey(context.terminal, `Press a key [${choices.join(', ')}]: `, choices);
    if (pressed === undefined) throw new ForceQuitError();
    const way = ways.find(({ key }) => key === pressed);
    const choice = way && (await tryWay(context, way));
    if (choice !== undefined) return choice;
  }
}

async function tryWay({ terminal }: CommandContext, { go }: Way): Promise<Choice> {
  try {
    return await go();
  } catch (error) {
    if (error instanceof ForceQuitError) throw error;
    await terminal.stderr.writeWarning(failureOf(error).message);
    return undefined;
  }
}

const keys: Readonly<Record<EngineProduct, string>> = { ollama: 'o', 'llama.cpp': 'l', 'runner-engine': 's' };

function keyed(context: CommandContext, daemon: DaemonClient, way: EngineWay): Way {
  const go = async () => ((await goWay(context, daemon, way)) ? 'started' : undefined);
  return { key: keys[way.start.product], label: way.label, go };
}

/** What needs no daemon. */
function ownWays({ terminal }: CommandContext, offered: readonly EngineWay[]): readonly Way[] {
  const practise: Way = {
    key: 'p',
    label: 'the practice runner: built in, no language model, quotes these pages',
    go: async () => 'practice',
  };
  const get: Way = {
    key: 'g',
    label: 'get Ollama: how',
    async go() {
      await terminal.stderr.writeText(getOllama);
      return undefined;
    },
  };
  const hasOllama = offered.some(({ start }) => start.product === 'ollama');
  return [...(hasOllama ? [] : [get]), practise];
}

const getOllama =
  'Install Ollama from https://ollama.com/download, which starts it. Then run "ollama pull qwen3:4b", and start Runner again. If yours is elsewhere, set OLLAMA_HOST.';

const fetchRequests: Readonly<Record<EngineFetch['what'], RequestMessage<WorkDoneParams, object>>> = {
  library: engineInstallRequest,
  sample: engineSampleRequest,
};

/** Fetches what is missing, after a yes, and starts it. Returns whether a runner answers now. */
async function goWay(context: CommandContext, daemon: DaemonClient, way: EngineWay): Promise<boolean> {
  const { stderr } = context.terminal;
  if (!(await agrees(context, way))) return false;
  for (const { what } of way.fetches) {
    const fetched = await requestWork(context, daemon, { request: fetchRequests[what], params: {} });
    if (!fetched) return false;
  }
  const started = await requestWork(context, daemon, { request: engineStartRequest, params: way.start });
  if (!started) return false;
  await stderr.writeText(`${showLine(started.message)} It ends with the last program that uses it.`);
  return way.start.product !== 'ollama' || getFirstModel(context, daemon);
}

const firstModel = 'qwen3:4b';

/** A new Ollama has no model, and this one ends if the terminal leaves. Returns whether a model can chat. */
async function getFirstModel(context: CommandContext, daemon: DaemonClient): Promise<boolean> {
  const { terminal } = context;
  if ((await daemon.request(chatModelRequest, { server: defaultServerName })).model) return true;
  await terminal.stderr.writeText(
    `It has no model that can chat yet. ${firstModel} is a good first one, and needs about 4 GB of memory.`,
  );
  if (await agreesTo(terminal, `Pull ${firstModel}? [y/N] `)) {
    const params = { model: firstModel };
    return (await requestWork(context, daemon, { request: pullModelRequest, params })) !== undefined;
  }
  await terminal.stderr.writeText(
    'For another one: "runner engine start" keeps Ollama running, then "runner pull NAME".',
  );
  return false;
}

/** Says what is fetched and from where. What is there needs no second question. */
async function agrees({ terminal }: CommandContext, { fetches, warning }: EngineWay): Promise<boolean> {
  const { stderr } = terminal;
  if (fetches.length === 0) return true;
  if (warning !== undefined) await stderr.writeText(showLine(warning));
  for (const { description } of fetches) await stderr.writeText(showLine(description));
  await stderr.writeText('"runner engine remove" deletes all of it again.');
  return agreesTo(terminal, 'Fetch it? [y/N] ');
}

/** Asks for a yes. @throws {ForceQuitError} after Ctrl-C. */
async function agreesTo(terminal: Terminal, question: string): Promise<boolean> {
  const answer = await askKey(terminal, question, ['y', 'n', '\r']);
  if (answer === undefined) throw new ForceQuitError();
  return answer === 'y';
}

/**
 * Says what is wrong with the usual runner, and asks whether to use one of these from now on. Its address then is in
 * the user's configuration. Returns it; undefined without a yes.
 * @throws {ForceQuitError} after Ctrl-C.
 */
export async function chooseFound(
  terminal: Terminal,
  daemon: DaemonClient,
  { runners, problem }: { readonly runners: readonly FoundRunner[]; readonly problem: string },
): Promise<string | undefined> {
  const { stderr } = terminal;
  if (runners.length === 0) return undefined;
  await stderr.writeText(problem);
  const isOne = runners.length === 1;
  for (const [index, runner] of runners.entries())
    await stderr.writeText(`${isOne ? '' : `${index + 1}  `}${showLine(describeFound(runner))}`);
  const question = isOne ? 'Use it from now on? [y/N] ' : `Use one from now on? [1-${runners.length}, N] `;
  const answer = await askLine(terminal, question);
  if (answer === undefined) throw new ForceQuitError();
  const chosen = isOne ? (isYes(answer) ? runners[0] : undefined) : runners[Number(answer) - 1];
  if (chosen) await keep(terminal, daemon, chosen.url);
  return chosen?.url;
}

/** If it cannot be kept, it is used this once. */
async function keep({ stderr }: Terminal, daemon: DaemonClient, url: string): Promise<void> {
  try {
    const { path } = await daemon.request(setHostRequest, { url });
    await stderr.writeAside(`"host" is set in ${showLine(path)}.`);
  } catch (error) {
    await stderr.writeWarning(failureOf(error).message);
  }
}
