import type { Command } from './logChild.ts';

/** A command that prints a log and goes on with it. */
export interface CommandSource {
  readonly command: Command;
  /** Which of its streams are the log; what it says to standard error else is a remark. */
  readonly streams: 'stdout' | 'both';
  /** A first line that says that there is no log. */
  readonly refusal: RegExp;
  /** Lines of the command itself, such as `-- Journal begins at … --`, which do not tell that there is a log. */
  readonly heading?: RegExp;
}

/** It goes on without a word where there is no such unit, and where this user may not read it. */
export const journalCommand: CommandSource = {
  command: ['journalctl', '--unit=ollama', '--no-pager', '--follow', '--lines=100', '--output=cat'],
  streams: 'stdout',
  refusal: /^-- No entries --$/,
  heading: /^-- .+ --$/,
};

export function dockerLogsCommand(container: string): CommandSource {
  return {
    command: ['docker', 'logs', '--follow', '--tail', '100', container],
    streams: 'both',
    refusal: /^(error response from daemon|error during connect|cannot connect|(got )?permission denied)/i,
  };
}

/** One line a running container: its name, image and ports, between tabs. */
export const dockerListCommand: Command = [
  'docker',
  'ps',
  '--format',
  '{{.Names}}\\t{{.Image}}\\t{{.Ports}}',
];
