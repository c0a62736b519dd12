import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import type { Look, Transport } from '../http/transport.ts';

/** Whether Ollama answers, and how. Only the field proves it: others answer the path with status 200 as well. */
export async function recogniseOllama(
  transport: Transport,
  signal: AbortSignal,
): Promise<{ readonly isOllama: boolean; readonly answer: Look }> {
  const answer = await transport.look({ method: 'GET', path: '/api/version', signal });
  const value = answer.status === 200 ? tryJson(answer.text) : undefined;
  return { isOllama: isRecord(value) && typeof value['version'] === 'string', answer };
}

/** Whether it has Ollama's list of models, although it does not say that it is Ollama. */
export async function hasOllamaList(transport: Transport, signal: AbortSignal): Promise<boolean> {
  const { text } = await transport.look({ method: 'GET', path: '/api/tags', limit: maxList, signal });
  const value = tryJson(text);
  return isRecord(value) && Array.isArray(value['models']);
}

/** The most bytes of a list that are read to recognise a server. */
const maxList = 4 * 1024 * 1024;
