import { RunnerError } from '../base/errors.ts';
import { followCommand } from './commandFollower.ts';
import { findDockerContainer } from './dockerContainer.ts';
import { followFile } from './fileFollower.ts';
import { type Follower, type FollowOptions, NoSourceError } from './follower.ts';
import { dockerLogsCommand, journalCommand } from './logCommands.ts';
import { adviceFor, type LogSource } from './sources.ts';

export interface FollowFirstOptions extends FollowOptions {
  readonly server: { readonly name: string; readonly url: string };
}

/**
 * Follows the first source that has lines.
 * @throws {RunnerError} `not-supported`, which names every source that was tried and why it failed.
 */
export async function followFirst(
  sources: readonly LogSource[],
  options: FollowFirstOptions,
): Promise<Follower> {
  const reasons: string[] = [];
  for (const source of sources) {
    const tried = await tryFollow(source, options);
    if (typeof tried !== 'string') return tried;
    reasons.push(`${nameOf(source)} (${tried})`);
    options.signal.throwIfAborted();
  }
  throw new RunnerError(
    'not-supported',
    `No log of the runner was found. Looked for: ${reasons.join(', ')}. ${adviceFor(options.platform)}`,
    { details: { server: options.server.name } },
  );
}

async function tryFollow(source: LogSource, options: FollowFirstOptions): Promise<Follower | string> {
  try {
    return await follow(source, options);
  } catch (error) {
    if (error instanceof NoSourceError) return error.message;
    throw error;
  }
}

async function follow(source: LogSource, options: FollowFirstOptions): Promise<Follower> {
  switch (source.kind) {
    case 'file':
      return followFile(source.path, options);
    case 'journal':
      return followCommand(journalCommand, options);
    case 'docker': {
      const container = await findDockerContainer(portOf(options.server.url), options);
      options.signal.throwIfAborted();
      return followCommand(dockerLogsCommand(container), options);
    }
  }
}

function nameOf(source: LogSource): string {
  switch (source.kind) {
    case 'file':
      return source.path;
    case 'journal':
      return 'journalctl --unit=ollama';
    case 'docker':
      return 'docker';
  }
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
