import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';

/**
 * A PostgreSQL of its own, in a folder of its own, that listens on a socket there and nowhere else. It ends, and its
 * folder goes, with the process that started it, even if that process is killed.
 */
export interface PostgresServer {
  /** The address of a new database. */
  database(): Promise<string>;
  /** Ends all connections at once, as a crash does. */
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** Where Debian has the programs of PostgreSQL, or undefined where it is not installed. */
export function tryFindPostgres(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root)
    ? readdirSync(root).sort((one, other) => Number(other) - Number(one))
    : [];
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

export async function startPostgres(bin: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'runner-pg-'));
  const cluster = join(folder, 'cluster');
  // The server refuses to run as root.
  const user = isRoot() ? { uid: idOfPostgres('-u'), gid: idOfPostgres('-g') } : {};
  if (isRoot()) chownSync(folder, user.uid ?? 0, user.gid ?? 0);
  const create = ['-D', cluster, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N'];
  await promisify(execFile)(join(bin, 'initdb'), create, { ...user, cwd: folder });
  const settings = ['listen_addresses=', 'fsync=off', 'max_connections=60'];
  const flags = ['-D', cluster, '-k', folder, ...settings.flatMap((setting) => ['-c', setting])];
  let shell: ChildProcess | undefined;
  let made = 0;
  const start = async () => {
    const given = ['-c', guard, 'sh', folder, join(bin, 'postgres'), ...flags];
    shell = spawn('sh', given, { ...user, cwd: folder, stdio: ['pipe', 'ignore', 'pipe'] });
    await untilReady(shell);
  };
  const end = async (word: string) => {
    if (!shell || shell.exitCode !== null) return;
    shell.stdin?.end(word);
    await once(shell, 'close');
  };
  await start();
  return {
    async database() {
      const client = new pg.Client({ host: folder, user: 'postgres', database: 'postgres' });
      await client.connect();
      const name = `test-${made++}`;
      await client.query(`CREATE DATABASE "${name}"`);
      await client.end();
      return `postgres:///${name}?host=${folder}&user=postgres`;
    },
    stop: () => end('stop\n'),
    start,
    async remove() {
      await end('');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Runs the server until standard input has a line or ends. If it ends without one, which is also the case when the test
 * was killed, the folder goes too.
 */
const guard = `folder=$1; shift
exec 3<&0
("$@" </dev/null 3<&-; echo 'The server has ended.' >&2) &
read -r word <&3
kill -QUIT "$(head -n 1 "$folder/cluster/postmaster.pid")"
wait
[ -n "$word" ] || { cd / && rm -rf "$folder"; }`;

/** Reads on to the end, so that the server can always write. */
async function untilReady({ stderr }: ChildProcess): Promise<void> {
  if (!stderr) throw new Error('The log of PostgreSQL is not read.');
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface(stderr).on('line', (line) => {
      lines.push(line);
      if (line.includes('ready to accept connections')) resolve();
      if (line === 'The server has ended.') reject(new Error(lines.join('\n')));
    });
  });
}

function isRoot(): boolean {
  return userInfo().uid === 0;
}

function idOfPostgres(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
