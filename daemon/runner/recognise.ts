import type { Transport } from './http/transport.ts';
import { createOllamaRunner } from './ollama/ollamaRunner.ts';
import { recogniseOllama } from './ollama/recognise.ts';
import { createOpenaiRunner } from './openai/openaiRunner.ts';
import { isLlamaServer, llamaServer, otherServer, recogniseOpenai } from './openai/recognise.ts';
import type { Runner, Server, ServerFacts } from './runner.ts';

/** What answers at an address. */
export interface Recognised {
  readonly runner: Runner;
  /** False if it proves nothing, for example because it keeps everything behind a token: it may be something else. */
  readonly isCertain: boolean;
}

/**
 * Finds out which wire a server speaks, unless the settings say so, and what it can do. It is asked at most three short
 * questions. If none of its answers proves anything, it counts as Ollama, whose errors then say what is wrong.
 * @throws {RunnerError} if nothing answers.
 */
export async function recognise(
  server: Server,
  transport: Transport,
  signal: AbortSignal,
): Promise<Recognised> {
  const ollama = () => createOllamaRunner(server, transport);
  const openai = (facts: ServerFacts) => createOpenaiRunner(server, transport, facts);
  const { api } = server;
  if (api === 'ollama') return { runner: ollama(), isCertain: true };
  if (api === undefined) {
    const { isOllama, answer } = await recogniseOllama(transport, signal);
    if (isOllama) return { runner: ollama(), isCertain: true };
    if (isLlamaServer(answer)) return { runner: openai(llamaServer), isCertain: true };
    if (answer.status === 401 || answer.status === 403) return { runner: ollama(), isCertain: false };
  }
  const found = await recogniseOpenai(transport, signal);
  if (found) return { runner: openai(found.facts), isCertain: found.isCertain };
  return { runner: api === 'openai' ? openai(otherServer) : ollama(), isCertain: false };
}
