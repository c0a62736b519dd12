import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { thisPlatform } from '../../../protocol/base/platform/folder.ts';
import { startProgram, systemProgram } from '../../../protocol/base/platform/program.ts';
import { TerminalError } from './failure.ts';

/** A command of the user's own, which no model has chosen. */
export interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Shows a piece of the output as it comes. */
  readonly show: (piece: string) => void;
}

export interface ShellResult {
  readonly ended: string;
  readonly text: string;
}

/** More of an output is shown, but not kept. In characters. */
const maxKept = 512 * 1024;

/**
 * Runs a command in the user's shell (`SHELL`), which has the keyboard meanwhile. Returns how it ended, such as `exit
 * code 1`, and all that it has written, without escape sequences.
 * @throws {TerminalError} of the kind `usage`, if the shell does not start.
 */
export async function runInShell({ command, cwd, env, show }: ShellCommand): Promise<ShellResult> {
  const [shell, ...words] =
    thisPlatform === 'win32'
      ? [systemProgram('cmd.exe', env), '/d', '/s', '/c', command]
      : [env['SHELL'] || '/bin/sh', '-c', command];
  const child = startProgram(shell ?? '', words, { cwd, env, stdio: ['inherit', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      output = (output + piece).slice(-maxKept);
      show(piece);
    });
  try {
    const [code, signal] = await once(child, 'close');
    const text = stripVTControlCharacters(output).replace(/\r\n?/g, '\n').trimEnd();
    return { ended: signal === null ? `exit code ${code}` : `ended by ${signal}`, text };
  } catch (error) {
    const message = `The shell ${shell} cannot be started in ${cwd}: ${messageOf(error)}.`;
    throw new TerminalError('usage', showLine(message), { cause: error });
  }
}
