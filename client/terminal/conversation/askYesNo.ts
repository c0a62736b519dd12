import { createInterface } from 'node:readline';
import { goOnAfterStops } from '../cli/stops.ts';
import type { Surroundings } from '../cli/streams.ts';

/** Asks on the terminal; Ctrl-D is a no. */
export async function askYesNo(
  surroundings: Surroundings,
  question: string,
): Promise<'yes' | 'no' | 'interrupted'> {
  const { stdin, stderr } = surroundings;
  const readline = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 0 });
  const endStops = goOnAfterStops(surroundings, readline, { afterStop: () => readline.prompt(true) });
  try {
    return await new Promise((resolve) => {
      readline.on('SIGINT', () => {
        stderr.write('\n');
        resolve('interrupted');
      });
      readline.on('close', () => {
        stderr.write('\n');
        resolve('no');
      });
      readline.question(question, (answer) => resolve(/^\s*y(es)?\s*$/i.test(answer) ? 'yes' : 'no'));
    });
  } finally {
    endStops();
    readline.removeAllListeners('close');
    readline.close();
  }
}
