import type { Command } from './logChild.ts';

/** A command that prints a log and follows it. */
export interface CommandSource {
  readonly command: Command;
  /** Which of its streams are the log. With `stdout`, its standard error is a remark. */
  readonly streams: 'stdout' | 'both';
  /** Matches a first line that says that there is no log. */
  readonly refusal: RegExp;
  /**
   * Matches lines of the command itself, such as `-- Journal begins at … --`, which do not show that there is a log.
   */
  readonly heading?: RegExp;
}

/** It waits silently if there is no such unit, or if this user may not read it. */
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

/** Prints one line for each running container: its name, image and ports, separated by tabs. */
export const dockerListCommand: Command = [
  'docker',
  'ps',
  '--format',
  '{{.Names}}\\t{{.Image}}\\t{{.Ports}}',
];
