import type { Writable } from 'node:stream';
import type { InitializeParams, RequestMessage } from 'vscode-languageserver/node';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { validate } from '../base/validate.ts';
import { ConfigurationStore, readHost } from '../config/configuration.ts';
import { withoutUnset } from '../config/settingsReader.ts';
import { schemaFor } from '../config/settingsTable.ts';
import { enabledServers, openUserFile, type UserConfig, type UserFileOptions } from '../config/userFile.ts';
import { frameOf, peekMessage } from '../rpc/frame.ts';
import { greetingTo, requireVersion } from '../rpc/greeting.ts';
import type { Daemon, StdioServerOptions } from './server.ts';

export interface DaemonOptions extends Omit<StdioServerOptions, 'user' | 'answered'> {
  readonly userFile: UserFileOptions;
}

/**
 * Answers `initialize`, and then loads the daemon, which takes longer. The daemon also reads that request and learns
 * everything from it; only its answer is not written again. A request that the handshake cannot answer is left to the
 * daemon.
 */
export async function startDaemon({ userFile, ...options }: DaemonOptions): Promise<Daemon> {
  const { input, output } = options;
  const [user, first] = await Promise.all([openUserFile(userFile), peekMessage(input)]);
  const request = first && 'method' in first && 'id' in first ? (first as RequestMessage) : undefined;
  const result = request && tryAnswer(request, options, user.atStart);
  if (result) await writeAnswer(output, { jsonrpc: '2.0', id: request.id, result });
  const { startServer } = await import('./server.ts');
  return startServer(
    withoutUndefined<StdioServerOptions>({ ...options, user, answered: result && (request.id ?? undefined) }),
  );
}

/** The answer to `initialize`; undefined if anything about the request is wrong. */
function tryAnswer(
  { method, params }: RequestMessage,
  { host, version }: Pick<StdioServerOptions, 'host' | 'version'>,
  { settings, tools }: UserConfig,
) {
  const { capabilities, initializationOptions } = (params ?? {}) as Partial<InitializeParams>;
  if (method !== 'initialize' || typeof capabilities !== 'object' || capabilities === null) return undefined;
  try {
    requireVersion(capabilities);
    const configuration = new ConfigurationStore(readHost(host).host, settings);
    const given = withoutUnset(initializationOptions);
    // Making a schema, even for nothing, takes as long as all else here.
    configuration.start(Object.keys(given).length === 0 ? {} : validate(schemaFor(given), given));
    const { isHostNamed } = configuration.current;
    return greetingTo(capabilities, { version, isHostNamed, toolServers: enabledServers(tools) });
  } catch {
    return undefined;
  }
}

/** Settles when the answer is written, because nothing else can run while the daemon loads. */
async function writeAnswer(output: Writable, answer: object): Promise<void> {
  await new Promise<void>((resolve) => output.write(frameOf(answer), () => resolve()));
}
