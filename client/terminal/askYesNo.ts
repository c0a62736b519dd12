import { createInterface } from 'node:readline';
import type { Surroundings } from './streams.ts';

/** Asks on the terminal; Ctrl-D is a no. */
export async function askYesNo(
  { stdin, stderr }: Surroundings,
  question: string,
): Promise<'yes' | 'no' | 'interrupted'> {
  const readline = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 0 });
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
    readline.removeAllListeners('close');
    readline.close();
  }
}
