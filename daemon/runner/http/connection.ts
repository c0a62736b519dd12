import type { Agent } from 'undici';
import type { RunnerTimeouts } from '../../../protocol/messages/settings.ts';
import { RunnerError } from '../../base/errors.ts';
import { readRegularFile } from '../../base/regularFile.ts';

interface ConnectionOptions {
  readonly caFile?: string;
  readonly timeouts: RunnerTimeouts;
}

export type HttpConnection = ReturnType<typeof createConnection>;

/** The connections to one runner, which are opened on first use. */
export function createConnection(options: ConnectionOptions) {
  let agent: Promise<Agent> | undefined;
  const closing = new AbortController();
  return {
    /** Aborted when the connections are to close, which then waits for what still runs. */
    closing: closing.signal,
    agent(): Promise<Agent> {
      agent ??= openAgent(options);
      agent.catch(() => {
        agent = undefined;
      });
      return agent;
    },
    async close(): Promise<void> {
      closing.abort();
      const opened = await agent?.catch(() => undefined);
      await opened?.close();
    },
  };
}

/** Undici takes longer to load than everything else together, so it is loaded on first use. */
async function openAgent({ caFile, timeouts }: ConnectionOptions): Promise<Agent> {
  const { HttpAgent, buildConnector, withoutContinue } = await import('./httpAgent.ts');
  const ca = caFile === undefined ? undefined : await readCertificates(caFile);
  const connect = buildConnector({ timeout: timeouts.connect, ...(ca && { ca }) });
  return new HttpAgent({
    connect: (to, done) =>
      connect(to, (...[error, socket]) => (error ? done(error, null) : done(null, withoutContinue(socket)))),
    bodyTimeout: timeouts.idle,
    maxHeaderSize: 64 * 1024,
  });
}

/** The certificates of a whole system take a quarter of this. */
const maxCertificateBytes = 1024 * 1024;

/** The named certificates are trusted in addition to those that the system trusts. */
async function readCertificates(caFile: string): Promise<string[]> {
  const { rootCertificates } = await import('node:tls');
  try {
    return [...rootCertificates, await readRegularFile(caFile, maxCertificateBytes)];
  } catch (cause) {
    throw new RunnerError(
      'server-unreachable',
      `The CA file ${caFile} cannot be read. Check that it is a file, its path and its mode.`,
      { cause },
    );
  }
}
