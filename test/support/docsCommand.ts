import { resolve } from 'node:path';
import { runProgram } from '../../docs-service/cli/program.ts';
import { parts } from './docsLibrary.ts';
import { type DocsCommand, type DocsProcessOptions, runnerDocsPath } from './docsProcess.ts';

/** Runs a command in this process, which starts much faster: the same program, but for its process and its bundle. */
export async function callDocs(
  args: readonly string[],
  { env = {}, input }: Pick<DocsProcessOptions, 'env' | 'input'> = {},
): Promise<DocsCommand> {
  let [stdout, stderr] = ['', ''];
  const code = await runProgram(args, {
    env: { HOME: '/nonexistent', ...env },
    version: '0.0.0',
    program: runnerDocsPath,
    parts,
    sample: resolve('docs'),
    now: Date.now,
    print: (text) => (stdout += text),
    note: (text) => (stderr += text),
    readLine: async () => input?.split(/\r?\n/, 1)[0],
    protocolStreams: () => {
      throw new Error('A command that speaks a protocol needs a process of its own.');
    },
    isTerminal: false,
    ending: new AbortController().signal,
  });
  return { code, stdout, stderr };
}
