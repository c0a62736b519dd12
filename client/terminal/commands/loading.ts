import { Readable } from 'node:stream';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { showLine } from '../../../protocol/base/text.ts';
import {
  type Model,
  type RunModelParams,
  runModelRequest,
  stopModelRequest,
} from '../../../protocol/messages/models.ts';
import { type CommandContext, tell } from '../cli/command.ts';
import { usageError } from '../cli/failure.ts';
import { commonFlags } from '../cli/flags.ts';
import { interruptible } from '../cli/terminal.ts';
import { orNearModels } from '../conversation/chooseModel.ts';
import { withDaemon } from '../daemon/connection.ts';
import { describeContext, describeExpiry, describeMemory } from '../screen/modelDescription.ts';
import type { Output } from '../screen/output.ts';
import { chat, readPiped } from './chat.ts';

/** Loads a model, or lets it answer a prompt: the words after its name, or standard input. */
export async function runModel(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const [model = '', ...prompt] = commandLine.words;
  if (prompt.length > 0) return chat({ ...context, commandLine: { ...commandLine, model, words: prompt } });
  const piped = await readPiped(terminal);
  if (piped !== '')
    return chat({
      ...context,
      terminal: { ...terminal, stdin: Readable.from([Buffer.from(piped)]) },
      commandLine: { ...commandLine, model, words: [] },
    });
  const wrong = [...commandLine.given].find((flag) => flag !== 'keep-alive' && !commonFlags.includes(flag));
  if (wrong !== undefined)
    throw usageError(`--${wrong} is for an answer. Say: runner run ${showLine(model)} "PROMPT"`);
  return loadModel(context, model);
}

/** Loads a model into memory. Ctrl-C cancels it. */
async function loadModel(context: CommandContext, name: string): Promise<number> {
  const { stdout, stderr, today } = context.terminal;
  const { keepAlive, json } = context.commandLine;
  const params = withoutUndefined<RunModelParams>({ model: name, keepAlive });
  return withDaemon(context, {}, async (daemon) => {
    const loaded = await interruptible(context.terminal, async (signal) => {
      const endStatus = json ? undefined : await showStatus(stderr, `Loading ${showLine(name)} …`);
      const request = daemon.request(runModelRequest, params, signal);
      return orNearModels(daemon, name, request).finally(endStatus);
    });
    if (!loaded) return tell(context, { event: 'cancelled', model: name }, 'Stopped.');
    const { model } = loaded;
    await (json
      ? stdout.writeJson({ event: 'done', model })
      : stdout.writeText(showLine(describeLoaded(model, today()))));
    return 0;
  });
}

/** Unloads a model. */
export async function unloadModel(context: CommandContext): Promise<number> {
  const { stdout } = context.terminal;
  const [model = ''] = context.commandLine.words;
  return withDaemon(context, {}, async (daemon) => {
    await orNearModels(daemon, model, daemon.request(stopModelRequest, { model }));
    if (context.commandLine.json) await stdout.writeJson({ event: 'done', model });
    else await stdout.writeLine(`${showLine(model)} is unloaded.`);
    return 0;
  });
}

/** Without details, if the runner does not say what is loaded. */
function describeLoaded(model: Model, today: Date): string {
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

/** Shows a line. On a screen the returned function removes it. */
async function showStatus(stderr: Output, text: string): Promise<(() => Promise<void>) | undefined> {
  if (!stderr.isRedrawable) {
    await stderr.writeLine(text);
    return undefined;
  }
  await stderr.write(text);
  return () => stderr.write('\r\u001b[K');
}
