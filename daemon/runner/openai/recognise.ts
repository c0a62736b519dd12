import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import type { Product } from '../../../protocol/messages/status.ts';
import type { Look, Transport } from '../http/transport.ts';
import type { ServerFacts } from '../runner.ts';

/** The most bytes of a list that are read to recognise a server. */
const maxList = 4 * 1024 * 1024;

/** What all of them have in common. */
const usual = { can: ['chat', 'complete'], hasFreeNames: true, hasFixedWindows: true } as const;

/** What each product can do, and how it differs. */
const facts: Readonly<Record<Exclude<Product, 'ollama'>, ServerFacts>> = {
  'llama.cpp': {
    ...{ product: 'llama.cpp', ...usual, can: [...usual.can, 'count'] },
    ...{ dropsTools: true, requiresCalls: true },
  },
  lmstudio: { product: 'lmstudio', ...usual, triesUnknown: true },
  vllm: {
    ...{ product: 'vllm', ...usual, can: [...usual.can, 'count'] },
    ...{ triesUnknown: true, requiresCalls: true },
  },
  other: { product: 'other', ...usual, triesUnknown: true },
};

/** llama.cpp names itself in each answer, whatever the path and the status. */
export function isLlamaServer({ header }: Look): boolean {
  return /^llama\.cpp/i.test(header('server') ?? '');
}

/** Whether an answer to a path that LM Studio does not know is its own. */
export function isLmStudio({ header, text }: Look): boolean {
  return /express/i.test(header('x-powered-by') ?? '') || /Unexpected endpoint or method/.test(text);
}

const router: ServerFacts = {
  ...facts['llama.cpp'],
  can: [...facts['llama.cpp'].can, 'load', 'unload', 'pull', 'delete'],
};

/** What a `llama-server` is: with one model, or without one as a router. */
export async function recogniseLlama(
  transport: Transport,
  signal: AbortSignal,
): Promise<ServerMatch & { readonly hasProps: boolean }> {
  const { status, text } = await transport.look({ method: 'GET', path: '/props', signal });
  const value = tryJson(text);
  const isRouter = isRecord(value) && value['role'] === 'router';
  const hasProps = isRouter || (isRecord(value) && isRecord(value['default_generation_settings']));
  // With a key it may be a router all the same. One model that is being loaded says nothing yet, but is none.
  const isComplete = status !== 401 && status !== 403;
  return { facts: isRouter ? router : facts['llama.cpp'], isCertain: true, isComplete, hasProps };
}

export const otherServer: ServerFacts = facts.other;

/** What speaks OpenAI's API. */
export interface ServerMatch {
  readonly facts: ServerFacts;
  /** False if it is asked again before the next request, since it says more then: it wants a key first. */
  readonly isComplete: boolean;
  /** False if it only wants a key for its list, as other services may. */
  readonly isCertain: boolean;
}

/**
 * What speaks OpenAI's API here; undefined if nothing does. A field proves it, since some servers answer any path with
 * status 200. `before` is what the server answered to a path of Ollama.
 */
export async function recogniseOpenai(
  transport: Transport,
  signal: AbortSignal,
  before?: Look,
): Promise<ServerMatch | undefined> {
  const look = await transport.look({ method: 'GET', path: '/v1/models', limit: maxList, signal });
  if (isLlamaServer(look)) return recogniseLlama(transport, signal);
  const hasStudioForm = isLmStudio(look) || (before !== undefined && isLmStudio(before));
  if (look.status === 401 || look.status === 403) {
    if (hasStudioForm) return { facts: facts.lmstudio, isCertain: true, isComplete: false };
    const isVllm = (await versionOf(transport, signal)) !== undefined;
    return { facts: isVllm ? facts.vllm : facts.other, isCertain: isVllm, isComplete: isVllm };
  }
  const value = tryJson(look.text);
  const list = isRecord(value) ? value['data'] : undefined;
  if (!Array.isArray(list)) return undefined;
  const { owned_by: owner, max_model_len: window } = isRecord(list[0]) ? list[0] : {};
  const found = { isCertain: true, isComplete: true };
  // A proxy in front replaces the header. It may lead to more servers than this one, and lack the paths beyond `/v1`.
  if (owner === 'llamacpp') {
    const llama = await recogniseLlama(transport, signal);
    return llama.hasProps ? llama : { facts: facts.other, ...found };
  }
  // SGLang has the field too, but another way to count.
  if (owner === 'vllm' || (window !== undefined && owner !== 'sglang'))
    return { facts: facts.vllm, ...found };
  if (hasStudioForm || owner === 'organization_owner')
    return { facts: (await hasOwnList(transport, signal)) ? newStudio : facts.lmstudio, ...found };
  return { facts: facts.other, ...found };
}

const newStudio: ServerFacts = { ...facts.lmstudio, can: [...facts.lmstudio.can, 'load', 'unload', 'pull'] };

/** Whether LM Studio has the API with which models are loaded: since version 0.4. */
async function hasOwnList(transport: Transport, signal: AbortSignal): Promise<boolean> {
  const { text } = await transport.look({ method: 'GET', path: '/api/v1/models', limit: maxList, signal });
  const value = tryJson(text);
  return isRecord(value) && Array.isArray(value['models']);
}

/** The version of vLLM, which guards only what is below `/v1`; undefined if another server answers. */
export async function versionOf(transport: Transport, signal: AbortSignal): Promise<string | undefined> {
  const { status, text } = await transport.look({ method: 'GET', path: '/version', signal });
  const value = tryJson(text);
  const version = status === 200 && isRecord(value) ? value['version'] : undefined;
  return typeof version === 'string' ? version.slice(0, 64) : undefined;
}
