import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { poll } from './waiting.ts';

export const runnerDocsPath = resolve('dist/runner-docs.cjs');

export interface DocsCommand {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface DocsProcessOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The program that runs it; this one where it is left out. */
  readonly node?: string;
  readonly program?: string;
  /** What stands on standard input; nothing where it is left out. */
  readonly input?: string;
}

/** Runs a command of `runner-docs` to its end. */
export async function runDocs(
  args: readonly string[],
  options: DocsProcessOptions = {},
): Promise<DocsCommand> {
  const started = startDocs(args, options);
  const [code] = await once(started.child, 'close');
  return { code, stdout: started.stdout(), stderr: started.stderr() };
}

export interface DocsService {
  readonly child: ChildProcess;
  /** Where it answers. */
  readonly origin: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Asks with the token. */
  get(path: string, token: string, headers?: Record<string, string>): Promise<Response>;
  /** Resolves once the library was read. */
  whenReady(): Promise<{ readonly documents: number; readonly problems: number; readonly warnings: number }>;
  /** Ends it as a service manager does; returns the exit code. */
  stop(): Promise<number | null>;
}

/** The built service on a port of its own. */
export async function serveDocs(
  args: readonly string[],
  options: DocsProcessOptions = {},
): Promise<DocsService> {
  const { child, stdout, stderr } = startDocs(['serve', '--port', '0', ...args], options);
  const found = await poll(
    async () => ({ match: /http:\/\/[^\s/]+:\d+/.exec(stderr() + stdout())?.[0], code: child.exitCode }),
    ({ match, code }) => match !== undefined || code !== null,
  );
  if (found.match === undefined) throw new Error(`It has ended with ${found.code}: ${stderr()}`);
  const origin = found.match;
  return {
    child,
    origin,
    stdout,
    stderr,
    get: (path, token, headers = {}) =>
      fetch(origin + path, { headers: { ...headers, authorization: `Bearer ${token}` } }),
    whenReady: () =>
      poll(
        async () => fetch(`${origin}/readyz`),
        ({ status }) => status === 200,
      ).then((response) => response.json()),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill('SIGTERM');
      const [code] = await once(child, 'close');
      return code;
    },
  };
}

function startDocs(args: readonly string[], { env = {}, node, program, input }: DocsProcessOptions) {
  const child = spawn(node ?? process.execPath, [program ?? runnerDocsPath, ...args], {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
  });
  // A command that wants no input may end before it has read any.
  child.stdin?.on('error', () => undefined).end(input);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text));
  return { child, stdout: () => stdout, stderr: () => stderr };
}
