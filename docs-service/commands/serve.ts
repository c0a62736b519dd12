import { once } from 'node:events';
import { parseServeConfig, serveOptions } from '../serveConfig.ts';
import type { Surroundings } from '../surroundings.ts';
import { defineCommand } from './command.ts';
import { serveSample } from './sample.ts';

export const serveCommand = defineCommand({
  usage: 'serve',
  summary: 'Serves the library until it is ended. This is what runner-docs does without a command.',
  words: 0,
  options: serveOptions,
  async run({ values }, surroundings) {
    if (values.sample) return serveSample(values, surroundings);
    const { startService } = await import('../service.ts');
    const service = await startService(parseServeConfig(values, surroundings.env), surroundings);
    surroundings.note(`The documents are at ${service.baseUrl.origin}/api/v1/docs\n`);
    await untilEnd(surroundings);
    await service.close();
    return 0;
  },
});

export async function untilEnd({ ending }: Pick<Surroundings, 'ending'>): Promise<void> {
  if (!ending.aborted) await once(ending, 'abort');
}
