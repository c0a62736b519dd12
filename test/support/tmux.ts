import { execFileSync } from 'node:child_process';
import { poll } from './waiting.ts';

/** A terminal of 100 by 30 that a test types into and reads, as a person would. */
export interface Screen {
  /** Types text, or names a key such as `Enter` or `C-c`. */
  press(...keys: readonly string[]): void;
  type(text: string): void;
  /** What the screen shows once it matches. */
  until(pattern: Pick<RegExp, 'test'>): Promise<string>;
  /** The exit code of the program, once it has ended. */
  ended(): Promise<number>;
  close(): void;
}

/**
 * Runs the program, says how it ended, and keeps the screen for as long as a test may look at it. As in a user's shell,
 * a Ctrl-C that is no key for the program ends neither the shell nor the screen.
 */
const afterwards = 'trap : INT; "$@"; echo "exit code $?"; exec sleep 60';

export function openScreen(command: readonly string[], env: Readonly<Record<string, string>>): Screen {
  const socket = `runner-test-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  tmux(
    'new-session',
    '-d',
    '-x',
    '100',
    '-y',
    '30',
    'env',
    '-i',
    'TERM=screen',
    ...variables,
    'sh',
    '-c',
    afterwards,
    'sh',
    ...command,
  );
  const show = () => tmux('capture-pane', '-p', '-S', '-200');
  const until = (pattern: Pick<RegExp, 'test'>): Promise<string> =>
    poll(
      async () => show(),
      (shown) => pattern.test(shown),
    );
  return {
    press: (...keys) => void tmux('send-keys', ...keys),
    type: (text) => void tmux('send-keys', '-l', text),
    until,
    async ended() {
      return Number(/exit code (\d+)/.exec(await until(/exit code \d+/))?.[1]);
    },
    close() {
      tmux('kill-server');
    },
  };
}
