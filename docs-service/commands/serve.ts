import { parseServeConfig, serveOptions } from '../serveConfig.ts';
import { defineCommand } from './command.ts';
import { serveSample } from './sample.ts';
import { untilEnd } from './untilEnd.ts';

export const serveCommand = defineCommand({
  usage: 'serve',
  summary: 'Serves the library until it is stopped. This is what runner-docs does without a command.',
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
