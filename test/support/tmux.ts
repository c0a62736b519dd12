import { execFileSync } from 'node:child_process';

/** A terminal of 100 by 30 that a test types into and reads, as a person would. */
export interface Screen {
  /** Types text, or names a key such as `Enter` or `C-c`. */
  press(...keys: readonly string[]): void;
  type(text: string): void;
  /** What the screen shows once it matches; fails after ten seconds with what it showed. */
  until(pattern: RegExp): Promise<string>;
  /** The exit code of the program, once it has ended. */
  ended(): Promise<number>;
  close(): void;
}

export function openScreen(command: readonly string[], env: Readonly<Record<string, string>>): Screen {
  const socket = `runner-test-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  tmux('new-session', '-d', '-x', '100', '-y', '30', 'env', '-i', 'TERM=screen', ...variables, ...command);
  tmux('set-option', '-g', 'remain-on-exit', 'on');
  const show = () => tmux('capture-pane', '-p', '-S', '-200');
  return {
    press: (...keys) => void tmux('send-keys', ...keys),
    type: (text) => void tmux('send-keys', '-l', text),
    async until(pattern) {
      for (let tries = 0; tries < 200; tries++) {
        const shown = show();
        if (pattern.test(shown)) return shown;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`The screen never showed ${pattern}:\n${show()}`);
    },
    async ended() {
      for (let tries = 0; tries < 200; tries++) {
        const [isDead, status] = tmux('display-message', '-p', '#{pane_dead} #{pane_dead_status}')
          .trim()
          .split(' ');
        if (isDead === '1') return Number(status);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`The program never ended:\n${show()}`);
    },
    close() {
      tmux('kill-server');
    },
  };
}
