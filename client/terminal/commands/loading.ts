import { Readable } from 'node:stream';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import {
  type Model,
  type RunModelParams,
  runModelRequest,
  stopModelRequest,
} from '../../../protocol/messages/models.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { TerminalError } from '../cli/failure.ts';
import { commonFlags } from '../cli/flags.ts';
import { type Surroundings, write, writeLine, writeText } from '../cli/streams.ts';
import { orNearModels } from '../conversation/chooseModel.ts';
import { interruptible } from '../conversation/interruptible.ts';
import { withDaemon } from '../daemon/connection.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { chat } from './chat.ts';
import { describeContext, describeExpiry, describeMemory } from './modelDescription.ts';
import { readPiped } from './oneAnswer.ts';

/** Loads a model, or has it answer the words behind its name or what is piped in. */
export async function runModel(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { given, words } = commandLine;
  const [model = '', ...prompt] = words;
  if (prompt.length > 0) return chat(surroundings, { ...commandLine, model, words: prompt });
  const piped = await readPiped(surroundings);
  if (piped !== '')
    return chat({ ...surroundings, stdin: Readable.from([piped]) }, { ...commandLine, model, words: [] });
  const wrong = [...given].find((flag) => flag !== 'keep-alive' && !commonFlags.includes(flag));
  if (wrong !== undefined)
    throw new TerminalError(
      'usage',
      `--${wrong} is for an answer. Say: runner run ${showLine(model)} "PROMPT"`,
    );
  return loadModel(surroundings, commandLine);
}

/** Loads a model into memory. Ctrl-C cancels it. */
async function loadModel(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, stderr, today } = surroundings;
  const { words, keepAlive, json } = commandLine;
  const [name = ''] = words;
  const params = withoutUndefined<RunModelParams>({ model: name, keepAlive });
  return withDaemon(surroundings, { commandLine }, async (daemon) => {
    const outcome = await interruptible(surroundings, async (signal) => {
      const endStatus = json ? undefined : await showStatus(surroundings, `Loading ${showLine(name)} …`);
      const request = daemon.request(runModelRequest, params, signal);
      return orNearModels(daemon, name, request).finally(endStatus);
    });
    if (outcome.kind === 'interrupted') {
      await (json ? writeEvent(surroundings, 'cancelled', name) : writeLine(stderr, 'Stopped.'));
      return 130;
    }
    const { model } = outcome.value;
    await (json
      ? writeEvent(surroundings, 'done', model)
      : writeText(stdout, showLine(describeLoaded(model, today()))));
    return 0;
  });
}

/** Unloads a model. */
export async function unloadModel(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const [model = ''] = commandLine.words;
  return withDaemon(surroundings, { commandLine }, async (daemon) => {
    await orNearModels(daemon, model, daemon.request(stopModelRequest, { model }));
    if (commandLine.json) await writeEvent(surroundings, 'done', model);
    else await writeLine(surroundings.stdout, `${showLine(model)} is unloaded.`);
    return 0;
  });
}

/** Of a runner that does not say what is loaded, only that it is. */
export function describeLoaded(model: Model, today: Date): string {
  const { name, remote, running } = model;
  if (remote) return `${name} runs at ${remote.host}; there is nothing to load.`;
  if (!running) return `${name} is loaded.`;
  const context = describeContext(model);
  const facts = [
    describeMemory(running),
    context === '' ? '' : `${context} tokens`,
    describeExpiry(running, today),
  ];
  return `${name} is loaded: ${facts.filter((fact) => fact !== '').join(', ')}.`;
}

async function writeEvent({ stdout }: Surroundings, event: string, model: Model | string): Promise<void> {
  await writeLine(stdout, JSON.stringify({ event, model }));
}

/** A line that a terminal forgets again when the returned function is called. */
async function showStatus(
  { stderr, env }: Surroundings,
  text: string,
): Promise<(() => Promise<void>) | undefined> {
  if (stderr.isTTY !== true || env['TERM'] === 'dumb') {
    await writeLine(stderr, text);
    return undefined;
  }
  await write(stderr, text);
  return () => write(stderr, '\r\u001b[K');
}
