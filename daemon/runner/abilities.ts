import { type Ability, type Product, productNames } from '../../protocol/messages/status.ts';
import { RunnerError } from '../base/errors.ts';
import type { Runner } from './runner.ts';

/** What a server that lacks an ability cannot do. */
const deeds: Readonly<Record<Ability, string>> = {
  chat: 'answer in a chat',
  complete: 'complete code',
  count: 'count tokens',
  load: 'load models on request',
  unload: 'unload models on request',
  pull: 'download models',
  delete: 'delete models',
  create: 'create models from Modelfiles, which are a feature of Ollama',
  embed: 'embed texts',
  logs: 'show its log',
  catalog: 'use the catalog of Ollama',
};

/** Where it can be done instead. */
const otherWays: Readonly<Record<Product, string>> = {
  ollama: 'Update it.',
  'llama.cpp': 'Start llama-server with the model that you want, or without one as a router.',
  lmstudio: 'Do it in LM Studio itself.',
  vllm: 'Start it with the model that you want.',
  other: 'Do it in the program that serves the models.',
};

/** A member of a runner that may be absent. */
type Optional = 'load' | 'unload' | 'remove' | 'pull' | 'creation';

const abilityOf: Readonly<Record<Optional, Ability>> = {
  load: 'load',
  unload: 'unload',
  remove: 'delete',
  pull: 'pull',
  creation: 'create',
};

/**
 * The member of the runner.
 * @throws {RunnerError} `not-supported` with the ability as its `capability`, if the runner lacks it.
 */
export function required<K extends Optional>(runner: Runner, name: K): NonNullable<Runner[K]> {
  const found = runner[name];
  if (found !== undefined) return found;
  const { product } = runner.facts;
  const capability = abilityOf[name];
  throw new RunnerError(
    'not-supported',
    `${productNames[product]} at ${runner.server.url} cannot ${deeds[capability]}. ${otherWays[product]}`,
    { details: { capability, server: runner.server.name } },
  );
}
