import { createInterface } from 'node:readline';
import type { CommandContext } from './command.ts';
import { usageError } from './failure.ts';
import { canAsk, resumeAfterSuspend, type Terminal } from './terminal.ts';

/**
 * `asks` begins the sentence about it.
 * @throws {TerminalError} of the kind `usage`, if nobody can be asked.
 */
export function requireQuestion({ terminal, commandLine }: CommandContext, asks: string): void {
  if (commandLine.json || !canAsk(terminal))
    throw usageError(`${asks}, and there is no terminal to ask on. With --yes it does not ask.`);
}

/** Asks before something is deleted. Returns undefined if the user agrees, otherwise the exit code. */
export async function confirmDeletion(terminal: Terminal, question: string): Promise<number | undefined> {
  const answer = await askLine(terminal, question);
  if (answer !== undefined && isYes(answer)) return undefined;
  await terminal.stderr.writeLine('Nothing was deleted.');
  return answer === undefined ? 130 : 1;
}

export function isYes(answer: string): boolean {
  return /^\s*y(es)?\s*$/i.test(answer);
}

/** Asks on the terminal for a line. Ctrl-D answers nothing; undefined after Ctrl-C. */
export async function askLine(terminal: Terminal, question: string): Promise<string | undefined> {
  const { stdin, stderr } = terminal;
  const readline = createInterface({ input: stdin, output: stderr.stream, terminal: true, historySize: 0 });
  const endListening = resumeAfterSuspend(terminal, readline, { afterResume: () => readline.prompt(true) });
  try {
    return await new Promise((resolve) => {
      const finish = (answer: string | undefined) => {
        // Only this listener: with readline's own, a closed interface would go on to echo what the next prompt reads.
        readline.off('close', leaveEmpty);
        resolve(answer);
      };
      const leave = (answer: string | undefined) => {
        stderr.stream.write('\n');
        finish(answer);
      };
      const leaveEmpty = () => leave('');
      readline.on('SIGINT', () => leave(undefined));
      readline.on('close', leaveEmpty);
      readline.question(question, finish);
    });
  } finally {
    endListening();
    readline.close();
  }
}

/**
 * Asks for one of these keys, without Enter; `\r` is Enter itself. Other keys do nothing. Undefined after Ctrl-C, and
 * where nothing more can be typed.
 */
export async function askKey(
  terminal: Terminal,
  question: string,
  keys: readonly string[],
): Promise<string | undefined> {
  const { stdin, stderr } = terminal;
  await stderr.write(question);
  stdin.setRawMode?.(true);
  try {
    const pressed = await new Promise<string | undefined>((resolve) => {
      const finish = (key: string | undefined, rest = '') => {
        stdin.off('data', take);
        stdin.off('end', leave);
        stdin.pause();
        // A line feed after the key is one of habit; what was typed beyond it is for what comes next.
        const typed = rest.replace(/^[\r\n]+/, '');
        if (typed !== '') stdin.unshift(Buffer.from(typed));
        resolve(key);
      };
      const leave = () => finish(undefined);
      const take = (chunk: Buffer | string) => {
        const text = String(chunk);
        for (const [index, character] of [...text].entries()) {
          const key = character.toLowerCase();
          if (key === '\u0003' || key === '\u0004') return finish(undefined);
          if (keys.includes(key)) return finish(key, [...text].slice(index + 1).join(''));
        }
      };
      stdin.on('data', take);
      stdin.on('end', leave);
      stdin.resume();
    });
    await stderr.writeLine(pressed === undefined || pressed === '\r' ? '' : pressed);
    return pressed;
  } finally {
    stdin.setRawMode?.(false);
  }
}
