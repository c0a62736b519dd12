import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** A PostgreSQL of its own, in a folder of its own, that listens on a socket there and nowhere else. */
export interface PostgresServer {
  /** The address of a database on it; every name is another one. */
  database(name: string): string;
  /** Runs SQL in the database that every cluster has. */
  run(sql: string): void;
  /** Ends all connections at once, as a crash does. */
  stop(): void;
  start(): void;
  remove(): void;
}

/** Where Debian has the programs of PostgreSQL, or undefined where it is not installed. */
export function tryFindPostgres(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root)
    ? readdirSync(root).sort((one, other) => Number(other) - Number(one))
    : [];
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

export function startPostgres(bin: string): PostgresServer {
  const folder = mkdtempSync(join(tmpdir(), 'runner-pg-'));
  const cluster = join(folder, 'cluster');
  if (isRoot()) chownToPostgres(folder);
  const start = () => {
    const flags = `-k ${folder} -c listen_addresses= -c fsync=off -c max_connections=60`;
    runAs(join(bin, 'pg_ctl'), ['-D', cluster, '-o', flags, '-l', join(folder, 'log'), '-w', 'start']);
  };
  const stop = () => runAs(join(bin, 'pg_ctl'), ['-D', cluster, '-m', 'immediate', '-w', 'stop']);
  const run = (sql: string) =>
    runAs(join(bin, 'psql'), ['-X', '-q', '-h', folder, '-U', 'postgres', '-d', 'postgres', '-c', sql]);
  runAs(join(bin, 'initdb'), [
    '-D',
    cluster,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '-N',
  ]);
  start();
  return {
    database: (name) => {
      run(`CREATE DATABASE "${name}"`);
      return `postgres:///${name}?host=${folder}&user=postgres`;
    },
    run,
    stop,
    start,
    remove: () => {
      stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isRoot(): boolean {
  return userInfo().uid === 0;
}

/** The server refuses to run as root. */
function runAs(program: string, parameters: readonly string[]): void {
  const [command, ...rest] = isRoot()
    ? ['runuser', '-u', 'postgres', '--', program, ...parameters]
    : [program, ...parameters];
  const { status, stderr, error } = spawnSync(command ?? program, rest, {
    cwd: tmpdir(),
    encoding: 'utf8',
    // The server keeps the standard output that it is started with.
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}

function chownToPostgres(folder: string): void {
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim()),
  );
  chownSync(folder, uid ?? 0, gid ?? 0);
}
