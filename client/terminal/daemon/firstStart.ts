import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import {
  describeFetch,
  type EngineModel,
  type EngineOffers,
  type EngineStartParams,
  engineInstallRequest,
  engineModelsRequest,
  engineNames,
  engineOffersRequest,
  engineSampleRequest,
  engineStartRequest,
  sampleWarning,
} from '../../../protocol/messages/engine.ts';
import type { CommandContext } from '../cli/command.ts';
import { failureOf } from '../cli/failure.ts';
import { askKey } from '../cli/question.ts';
import { ForceQuitError } from '../cli/signals.ts';
import type { Daemon } from './daemon.ts';
import { requestWork } from './work.ts';

/** One way to a runner, behind one key. */
interface Way {
  readonly key: string;
  /** What the key does. */
  readonly label: string;
  /** Whether a runner answers now. */
  readonly go: () => Promise<boolean>;
}

/**
 * Offers what there is on this machine to someone who has no runner: each with one key. What was
 * started runs as long as the daemon. `problem` is what is wrong with the usual runner, if nobody has said it yet. The
 * result is undefined if the daemon has nothing to offer; then nothing was said.
 * @throws {ForceQuitError} after Ctrl-C.
 */
export async function offerStart(
  context: CommandContext,
  daemon: Daemon,
  problem: string | undefined,
): Promise<'started' | 'practice' | undefined> {
  const { stderr } = context.terminal;
  const found = await tryOffers(daemon);
  if (!found) return undefined;
  const ways = waysTo(context, daemon, found);
  if (problem !== undefined) await stderr.writeText(problem);
  await stderr.writeText('What would you like?');
  for (;;) {
    await stderr.writeLine('');
    for (const { key, label } of ways)
      await stderr.writeText(`  ${stderr.style.bold(key)}  ${showLine(label)}`);
    const keys = ways.map(({ key }) => key);
    const pressed = await askKey(context.terminal, `Press a key [${keys.join(', ')}]: `, keys);
    if (pressed === undefined) throw new ForceQuitError();
    if (pressed === practiceKey) return 'practice';
    const way = ways.find(({ key }) => key === pressed);
    if (way && (await tryWay(context, way))) return 'started';
  }
}

const practiceKey = 'p';

interface Found extends EngineOffers {
  readonly models: readonly EngineModel[];
}

/** Undefined if the daemon cannot start anything. */
async function tryOffers(daemon: Daemon): Promise<Found | undefined> {
  try {
    const [offers, { models }] = await Promise.all([
      daemon.request(engineOffersRequest, {}),
      daemon.request(engineModelsRequest, {}),
    ]);
    return { ...offers, models: models.filter(({ fits }) => fits) };
  } catch {
    return undefined;
  }
}

async function tryWay({ terminal }: CommandContext, { go }: Way): Promise<boolean> {
  try {
    return await go();
  } catch (error) {
    if (error instanceof ForceQuitError) throw error;
    await terminal.stderr.writeText(terminal.stderr.style.yellow(failureOf(error).message));
    return false;
  }
}

function waysTo(context: CommandContext, daemon: Daemon, found: Found): readonly Way[] {
  const { stderr } = context.terminal;
  const { programs, models } = found;
  const [model] = models.filter(({ source }) => source !== 'sample');
  const start = (params: EngineStartParams) => startIt(context, daemon, params);
  const ways: Way[] = [];
  for (const { product, version } of programs) {
    const name = `${engineNames[product]} ${version}`;
    if (product === 'ollama')
      ways.push({ key: 'o', label: `start ${name}, which is installed`, go: () => start({ product }) });
    else if (model)
      ways.push({
        key: 'l',
        label: `start ${name}, which is installed, with ${model.name} (${formatBytes(model.size)})`,
        go: () => start({ product, model: model.path }),
      });
  }
  const small = smallModel(context, daemon, found);
  if (small) ways.push(small);
  if (!programs.some(({ product }) => product === 'ollama'))
    ways.push({
      key: 'g',
      label: 'get Ollama: how',
      async go() {
        await stderr.writeText(getOllama);
        return false;
      },
    });
  const practice = 'the practice runner: built in, no language model, quotes these pages';
  return [...ways, { key: practiceKey, label: practice, go: async () => false }];
}

const getOllama =
  'Install Ollama from https://ollama.com/download, which starts it. Then run "ollama pull qwen3:4b", and start Runner again. If yours is elsewhere, set OLLAMA_HOST.';

/** The engine with the small model, or with another where that cannot be fetched. */
function smallModel(context: CommandContext, daemon: Daemon, found: Found): Way | undefined {
  const { library, sample, models } = found;
  if (library.problem !== undefined) return undefined;
  const hasSample = sample.problem === undefined;
  const [other] = models;
  if (!hasSample && !other) return undefined;
  const missing = [library, ...(hasSample ? [sample] : [])].filter(({ isThere }) => !isThere);
  const bytes = missing.reduce((sum, one) => sum + one.bytes, 0);
  const size = bytes === 0 ? 'installed' : formatBytes(bytes);
  const label = hasSample
    ? `a small real model here, now (${size})`
    : `${other?.name} here, with an engine of Runner's own (${size})`;
  const go = async () => {
    if (!(await agrees(context, found, missing))) return false;
    const model = hasSample ? {} : { model: other?.path ?? '' };
    if (
      !library.isThere &&
      !(await isDone(requestWork(context, daemon, { request: engineInstallRequest, params: {} })))
    )
      return false;
    if (!hasSample) return startIt(context, daemon, { product: 'runner-engine', ...model });
    const fetched = await requestWork(context, daemon, { request: engineSampleRequest, params: {} });
    if (fetched.kind === 'interrupted') return false;
    return startIt(context, daemon, { product: 'runner-engine', model: fetched.value.path });
  };
  return { key: 's', label, go };
}

async function isDone(work: Promise<{ readonly kind: 'done' | 'interrupted' }>): Promise<boolean> {
  return (await work).kind === 'done';
}

/** Says what is fetched and from where. What is there needs no second question. */
async function agrees(
  { terminal }: CommandContext,
  { sample }: Found,
  missing: readonly EngineOffers['library'][],
): Promise<boolean> {
  const { stderr } = terminal;
  if (missing.length === 0) return true;
  if (sample.problem === undefined) await stderr.writeText(sampleWarning);
  for (const one of missing) await stderr.writeText(showLine(describeFetch(one)));
  await stderr.writeText('"runner engine remove" deletes all of it again.');
  const answer = await askKey(terminal, 'Fetch it? [y/N] ', ['y', 'n', '\r']);
  if (answer === undefined) throw new ForceQuitError();
  return answer === 'y';
}

async function startIt(context: CommandContext, daemon: Daemon, params: EngineStartParams): Promise<boolean> {
  const { stderr } = context.terminal;
  const outcome = await requestWork(context, daemon, { request: engineStartRequest, params });
  if (outcome.kind === 'interrupted') return false;
  await stderr.writeText(`${showLine(outcome.value.message)} It ends with the last program that uses it.`);
  return true;
}
