import { setTimeout as pause } from 'node:timers/promises';
import { linkedSignal } from '../../protocol/base/abort.ts';
import { type FollowOptions, NoSourceError } from './follower.ts';
import { startLogChild } from './logChild.ts';
import { dockerListCommand } from './logCommands.ts';

/** How long the list of containers may take, in ms: Docker's daemon may not be running. */
const listWithin = 3000;
/** How much of the list is read, in characters. */
const maxList = 256 * 1024;

/**
 * The name of the container with the runner of this port.
 * @throws {NoSourceError} if there is none.
 */
export async function findDockerContainer(port: number, options: FollowOptions): Promise<string> {
  const { listed, said } = await listContainers(options);
  const name = containerOf(listed, port);
  if (name !== undefined) return name;
  throw new NoSourceError(said === '' ? `has no container "ollama" with the port ${port}` : said);
}

async function listContainers({ env, signal }: FollowOptions): Promise<{ listed: string; said: string }> {
  const text = { stdout: '', stderr: '' };
  const child = startLogChild(dockerListCommand, {
    env,
    onOutput: (stream, piece) => {
      text[stream] = (text[stream] + piece.toString()).slice(0, maxList);
    },
  });
  const decided = linkedSignal(signal);
  const limit = pause(listWithin, 'did not answer', {
    signal: decided.signal,
  }).catch(() => 'was stopped');
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
  return { name: name.trim(), image, ports };
}

/**
 * The ports look like `0.0.0.0:11434->11434/tcp, [::]:8000-8010->8000-8010/tcp`, with the host's side before the arrow.
 */
function publishes(ports: string, port: number): boolean {
  return [...ports.matchAll(/:(\d+)(?:-(\d+))?->/g)].some(
    ([, first, last = first]) => Number(first) <= port && port <= Number(last),
  );
}
