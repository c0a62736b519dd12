import type { Look, Transport } from './http/transport.ts';
import { createOllamaRunner, hasOllamaList, lookForOllama } from './ollama/ollamaRunner.ts';
import { isLmStudio } from './openai/lmStudio.ts';
import { createOpenaiRunner } from './openai/openaiRunner.ts';
import {
  isLlamaServer,
  otherServer,
  recogniseLlama,
  recogniseOpenai,
  type ServerMatch,
} from './openai/recognise.ts';
import type { Runner, Server, ServerFacts } from './runner.ts';

/** What answers at an address. */
export interface Recognised {
  readonly runner: Runner;
  /** False if it proves nothing, for example because it keeps everything behind a token: it may be something else. */
  readonly isCertain: boolean;
  /** False if it is asked again before the next request, since it may say more then. */
  readonly isComplete: boolean;
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
  const recognisedAs = ({ facts, ...found }: ServerMatch): Recognised => ({
    runner: openai(facts),
    ...found,
  });
  const { api } = server;
  if (api === 'ollama') return { runner: ollama(), isCertain: true, isComplete: true };
  let before: Look | undefined;
  if (api === undefined) {
    const { answer, isOllama } = await lookForOllama(transport, signal);
    if (isOllama) return { runner: ollama(), isCertain: true, isComplete: true };
    if (isLlamaServer(answer)) return recognisedAs(await recogniseLlama(transport, signal));
    before = answer;
    if ((answer.status === 401 || answer.status === 403) && !isLmStudio(answer))
      return { runner: ollama(), isCertain: false, isComplete: false };
  }
  const found = await recogniseOpenai(transport, signal, before);
  if (found) return recognisedAs(found);
  if (api === undefined && (await hasOllamaList(transport, signal)))
    return { runner: createOllamaRunner(server, transport, 'other'), isCertain: true, isComplete: true };
  return { runner: api === 'openai' ? openai(otherServer) : ollama(), isCertain: false, isComplete: false };
}
