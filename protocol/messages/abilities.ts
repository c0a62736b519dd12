import { type Ability, type Product, productNames } from './status.ts';

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

/** What to do instead, whatever the product is. */
const instead: Partial<Readonly<Record<Ability, string>>> = {
  create: 'Use an Ollama server for that.',
  catalog: 'Use an Ollama server for that.',
  logs: 'Read it where the server was started.',
};

/** What to do instead with a product. */
const otherWays: Readonly<Record<Product, string>> = {
  ollama: 'Update it.',
  'llama.cpp': 'Start llama-server with the model that you want, or without one as a router.',
  lmstudio: 'Do it in LM Studio itself.',
  vllm: 'Start it with the model that you want.',
  other: 'Do it in the program that serves the models.',
};

/** The sentences of a `not-supported` error for an ability that a product lacks. `url` is the server's address. */
export function refusalOf(product: Product, ability: Ability, url?: string): string {
  const place = url === undefined ? '' : ` at ${url}`;
  return `${productNames[product]}${place} cannot ${deeds[ability]}. ${instead[ability] ?? otherWays[product]}`;
}
