import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import type { Product } from '../../../protocol/messages/status.ts';
import type { Look, Transport } from '../http/transport.ts';
import type { ServerFacts } from '../runner.ts';

/** What each product can do, and how it differs. */
const facts: Readonly<Record<Exclude<Product, 'ollama'>, ServerFacts>> = {
  'llama.cpp': {
    product: 'llama.cpp',
    can: ['chat', 'complete', 'count'],
    hasFreeNames: true,
    hasFixedWindows: true,
    dropsTools: true,
    requiresCalls: true,
  },
  lmstudio: { product: 'lmstudio', can: ['chat', 'complete'], hasFreeNames: true, hasFixedWindows: true },
  vllm: {
    product: 'vllm',
    can: ['chat', 'complete', 'count'],
    hasFreeNames: true,
    hasFixedWindows: true,
    requiresCalls: true,
  },
  other: { product: 'other', can: ['chat', 'complete'], hasFreeNames: true, hasFixedWindows: true },
};

/** llama.cpp names itself in each answer, whatever the path and the status. */
export function isLlamaServer({ header }: Look): boolean {
  return /^llama\.cpp/i.test(header('server') ?? '');
}

const router: ServerFacts = {
  ...facts['llama.cpp'],
  can: [...facts['llama.cpp'].can, 'load', 'unload', 'pull', 'delete'],
};

/** What a `llama-server` is: with one model, or without one as a router. */
export async function recogniseLlama(transport: Transport, signal: AbortSignal): Promise<Found> {
  const { status, text } = await transport.look({ method: 'GET', path: '/props', signal });
  const value = tryJson(text);
  const isRouter = isRecord(value) && value['role'] === 'router';
  // With a key it may be a router all the same. One model that is being loaded says nothing yet, but is none.
  const isComplete = status !== 401 && status !== 403;
  return { facts: isRouter ? router : facts['llama.cpp'], isCertain: true, isComplete };
}

export const otherServer: ServerFacts = facts.other;

/** What speaks OpenAI's API. */
export interface Found {
  readonly facts: ServerFacts;
  /** False if it wants a key before it says what it can do. */
  readonly isComplete: boolean;
  /** False if it only wants a key for its list, as other services may. */
  readonly isCertain: boolean;
}

/**
 * What speaks OpenAI's API here; undefined if nothing does. A field proves it, since some servers answer any path with
 * status 200.
 */
export async function recogniseOpenai(transport: Transport, signal: AbortSignal): Promise<Found | undefined> {
  const look = await transport.look({ method: 'GET', path: '/v1/models', signal });
  if (isLlamaServer(look)) return recogniseLlama(transport, signal);
  if (look.status === 401 || look.status === 403) {
    const isVllm = await hasVersion(transport, signal);
    return { facts: isVllm ? facts.vllm : facts.other, isCertain: isVllm, isComplete: isVllm };
  }
  const value = tryJson(look.text);
  const list = isRecord(value) ? value['data'] : undefined;
  return Array.isArray(list)
    ? { facts: factsFrom(list[0], look), isCertain: true, isComplete: true }
    : undefined;
}

function factsFrom(first: unknown, { header }: Look): ServerFacts {
  const { owned_by: owner, max_model_len: window } = isRecord(first) ? first : {};
  if (owner === 'vllm' || window !== undefined) return facts.vllm;
  const isExpress = /express/i.test(header('x-powered-by') ?? '');
  return isExpress || owner === 'organization_owner' ? facts.lmstudio : facts.other;
}

/** vLLM guards only what is below `/v1`. */
async function hasVersion(transport: Transport, signal: AbortSignal): Promise<boolean> {
  const { status, text } = await transport.look({ method: 'GET', path: '/version', signal });
  const value = tryJson(text);
  return status === 200 && isRecord(value) && typeof value['version'] === 'string';
}
