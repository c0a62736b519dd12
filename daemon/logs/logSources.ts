import { posix, win32 } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { linkedSignal } from '../../protocol/base/abort.ts';
import { RunnerError } from '../base/errors.ts';
import { type CommandSource, followCommand, type LogCommand, startLogChild } from './commandFollower.ts';
import { followFile } from './fileFollower.ts';
import { type Follower, type FollowOptions, NoSourceError } from './logLines.ts';

/** A place where a runner's log may be. They are tried in order; the first one with lines is followed. */
interface LogSource {
  readonly name: string;
  /** @throws {NoSourceError} if it has no lines. */
  readonly follow: (url: string, options: FollowOptions) => Promise<Follower>;
}

/**
 * Follows the first source that has lines.
 * @throws {RunnerError} `not-supported`, which names every source that was tried and why it failed.
 */
export async function followFirst(
  sources: readonly LogSource[],
  server: { readonly name: string; readonly url: string },
  options: FollowOptions,
): Promise<Follower> {
  const reasons: string[] = [];
  for (const source of sources) {
    const tried = await tryFollow(source, server.url, options);
    if (typeof tried !== 'string') return tried;
    reasons.push(`${source.name} (${tried})`);
    options.signal.throwIfAborted();
  }
  throw new RunnerError(
    'not-supported',
    `No log of the runner was found. Looked for: ${reasons.join(', ')}. ${adviceFor(options.platform)}`,
    { details: { server: server.name } },
  );
}

async function tryFollow(source: LogSource, url: string, options: FollowOptions): Promise<Follower | string> {
  try {
    return await source.follow(url, options);
  } catch (error) {
    if (error instanceof NoSourceError) return error.message;
    throw error;
  }
}

function file(path: string): LogSource {
  return { name: path, follow: (_, options) => followFile(path, options) };
}

const journal: LogSource = {
  name: 'journalctl --unit=ollama',
  follow: (_, options) => followCommand(journalCommand, options),
};

const docker: LogSource = {
  name: 'docker',
  async follow(url, options) {
    const container = await findDockerContainer(portOf(url), options);
    options.signal.throwIfAborted();
    return followCommand(dockerLogsCommand(container), options);
  },
};

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/**
 * The places of each platform's usual installations. A container may run on any platform. `homedir` is used if the
 * environment names no home.
 */
export function logSources(
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
  homedir: string,
): readonly LogSource[] {
  const home = env['HOME'] || homedir;
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA'] || win32.join(homedir, 'AppData', 'Local');
    return [file(win32.join(local, 'Ollama', 'server.log')), docker];
  }
  const own = file(posix.join(home, '.ollama', 'logs', 'server.log'));
  if (platform !== 'darwin') return [own, journal, docker];
  const homebrew = ['/opt/homebrew/var/log/ollama.log', '/usr/local/var/log/ollama.log'];
  return [own, ...homebrew.map(file), docker];
}

/** A sentence that says what to do if no source was found. */
export function adviceFor(platform: NodeJS.Platform): string {
  switch (platform) {
    case 'darwin':
      return 'Start the runner as the app or with "brew services start ollama", or read the terminal where "ollama serve" runs.';
    case 'win32':
      return 'Start the runner as the app, or read the terminal where "ollama serve" runs.';
    default:
      return 'Start the runner as a service, be in the group systemd-journal, or read the terminal where "ollama serve" runs.';
  }
}

/** It waits silently if there is no such unit, or if this user may not read it. */
const journalCommand: CommandSource = {
  command: ['journalctl', '--unit=ollama', '--no-pager', '--follow', '--lines=100', '--output=cat'],
  streams: 'stdout',
  refusal: /^-- No entries --$/,
  heading: /^-- .+ --$/,
};

function dockerLogsCommand(container: string): CommandSource {
  return {
    command: ['docker', 'logs', '--follow', '--tail', '100', container],
    streams: 'both',
    refusal: /^(error response from daemon|error during connect|cannot connect|(got )?permission denied)/i,
  };
}

/** Prints one line for each running container: its name, image and ports, separated by tabs. */
const dockerListCommand: LogCommand = ['docker', 'ps', '--format', '{{.Names}}\\t{{.Image}}\\t{{.Ports}}'];

/** How long the list of containers may take, in ms: Docker's daemon may not be running. */
const listWithin = 3000;
/** How much of the list is read, in characters. */
const maxList = 256 * 1024;

/**
 * The name of the container with the runner of this port.
 * @throws {NoSourceError} if there is none.
 */
async function findDockerContainer(port: number, options: FollowOptions): Promise<string> {
  const { listed, said } = await listContainers(options);
  const name = containerOf(listed, port);
  if (name !== undefined) return name;
  throw new NoSourceError(said === '' ? `has no container "ollama" with the port ${port}` : said);
}

async function listContainers({ env, signal }: FollowOptions): Promise<{ listed: string; said: string }> {
  const text = { stdout: '', stderr: '' };
  const child = startLogChild(dockerListCommand, env, (stream, piece) => {
    text[stream] = (text[stream] + piece.toString()).slice(0, maxList);
  });
  const decided = linkedSignal(signal);
  const limit = pause(listWithin, 'did not answer', { signal: decided.signal }).catch(() => 'was stopped');
  const how = await Promise.race([child.ended, limit]);
  decided.abort();
  await child.end();
  if (how === 'ended with code 0') return { listed: text.stdout, said: '' };
  const [remark = ''] = text.stderr.trim().split('\n');
  return { listed: '', said: remark === '' ? how : `${how}: ${remark.slice(0, 200)}` };
}

/**
 * Finds the container in the lines of `docker ps`: one of Ollama that publishes the port, else the one named `ollama`.
 */
export function containerOf(listed: string, port: number): string | undefined {
  const containers = listed.split(/\r?\n/).map(parseContainer);
  const publishing = containers.find(
    ({ name, image, ports }) => /ollama/i.test(`${name} ${image}`) && publishes(ports, port),
  );
  // A container without published ports may use the network of the host.
  const found = publishing ?? containers.find(({ name }) => name === 'ollama');
  return found && /^[\w][\w.-]*$/.test(found.name) ? found.name : undefined;
}

/** The names include those of links, which have a slash; the container's own name has none. */
function parseContainer(line: string): { name: string; image: string; ports: string } {
  const [names = '', image = '', ports = ''] = line.split('\t');
  const name = names.split(',').find((each) => !each.includes('/')) ?? '';
  return { name, image, ports };
}

/**
 * The ports look like `0.0.0.0:11434->11434/tcp, [::]:8000-8010->8000-8010/tcp`, with the host's side before the arrow.
 */
function publishes(ports: string, port: number): boolean {
  return [...ports.matchAll(/:(\d+)(?:-(\d+))?->/g)].some(
    ([, first, last = first]) => Number(first) <= port && port <= Number(last),
  );
}
