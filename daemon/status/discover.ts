import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { FoundRunner } from '../../protocol/messages/status.ts';
import { RunnerError } from '../base/errors.ts';
import type { Runner } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';

/**
 * The ports at which runners listen if nobody chooses another one: Ollama, llama.cpp and its packages, LM Studio, vLLM,
 * Docker Model Runner, Lemonade, Jan, KoboldCpp and SGLang.
 */
const ports = [11434, 8080, 9931, 8012, 1234, 8000, 12434, 13305, 1337, 5001, 30000];

/** The runners on this machine. No token goes along. */
export async function discoverRunners(
  servers: Pick<Servers, 'discover'>,
  signal: AbortSignal,
): Promise<readonly FoundRunner[]> {
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const runners = await servers.discover(urls, signal);
  return Promise.all(runners.map((runner) => describe(runner, signal)));
}

async function describe(runner: Runner, signal: AbortSignal): Promise<FoundRunner> {
  try {
    const list = await runner.list(signal).catch((error) => {
      if (error instanceof RunnerError) return undefined;
      throw error;
    });
    return withoutUndefined({
      url: runner.server.url,
      product: runner.facts.product,
      models: list?.models.length,
    });
  } finally {
    void runner.close();
  }
}
