import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** In characters: nobody types a longer line on purpose. */
const longest = 10_000;

/** The first line of standard input, without its end. In a terminal, it asks for the line and does not show it. */
export async function readLine(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  const isTerminal = stdin.isTTY ?? false;
  if (isTerminal) stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: isTerminal });
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(undefined));
      lines.once('SIGINT', () => reject(new Error('nothing was changed.')));
      let length = 0;
      stdin.on('data', (chunk: Buffer | string) => {
        length += chunk.length;
        if (length > longest) reject(new Error('the first line of standard input is too long.'));
      });
    });
  } finally {
    lines.close();
    stdin.destroy();
    if (isTerminal) stderr.write('\n');
  }
}
