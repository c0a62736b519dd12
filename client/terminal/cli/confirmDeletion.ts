import { createInterface } from 'node:readline';
import { resumeAfterSuspend } from './signals.ts';
import type { Terminal } from './terminal.ts';

/** Asks before something is deleted. Returns undefined if the user agrees, otherwise the exit code. */
export async function confirmDeletion(terminal: Terminal, question: string): Promise<number | undefined> {
  const answer = await askYesNo(terminal, question);
  if (answer === 'yes') return undefined;
  await terminal.stderr.writeLine('Nothing was deleted.');
  return answer === 'no' ? 1 : 130;
}

/** Asks on the terminal. Ctrl-D means no. */
async function askYesNo(terminal: Terminal, question: string): Promise<'yes' | 'no' | 'interrupted'> {
  const { stdin, stderr } = terminal;
  const readline = createInterface({ input: stdin, output: stderr.stream, terminal: true, historySize: 0 });
  const endListening = resumeAfterSuspend(terminal, readline, { afterResume: () => readline.prompt(true) });
  try {
    return await new Promise((resolve) => {
      const leave = (answer: 'no' | 'interrupted') => {
        stderr.stream.write('\n');
        resolve(answer);
      };
      readline.on('SIGINT', () => leave('interrupted'));
      readline.on('close', () => leave('no'));
      readline.question(question, (answer) => resolve(/^\s*y(es)?\s*$/i.test(answer) ? 'yes' : 'no'));
    });
  } finally {
    endListening();
    readline.removeAllListeners('close');
    readline.close();
  }
}
