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
