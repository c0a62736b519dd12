import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { createMcpLibrary } from '../../mcp/mcpLibrary.ts';
import { createListChangeNotifier, createMcpServer } from '../../mcp/mcpServer.ts';
import { documentAddress, readingPath } from '../documentView.ts';
import type { Services } from '../services.ts';
import { listenerBounds, type McpHandler, mountMcp } from './mcpRoute.ts';

interface MountedLibraryOptions extends Services {
  readonly version: string;
  /** The name of the library. */
  readonly look?: { readonly title?: string };
  readonly hasConnectorTools?: boolean;
  readonly ending?: AbortSignal;
}

/** The library at `/mcp`. */
export function mountLibrary(app: FastifyInstance, options: MountedLibraryOptions): void {
  const { authorization, baseUrl, ending } = options;
  mountMcp(app, {
    authorization,
    address: `${baseUrl.href}/mcp`,
    openHandler: () => openLibraryHandler(options, app.log),
    ending,
  });
}

/** The SDK is loaded with the first request. */
async function openLibraryHandler(
  { index, search, renditions, baseUrl, version, look, hasConnectorTools = false }: MountedLibraryOptions,
  log: FastifyBaseLogger,
): Promise<McpHandler> {
  const protocol = await import('../../mcp/mcpProtocol.ts');
  const addresses = [readingPath({ root: baseUrl.href }, ''), documentAddress(baseUrl.href, '')] as const;
  const libraryFor = createMcpLibrary({ index, search, renditions, addresses });
  const handler = protocol.createMcpHandler(
    ({ era, authInfo }) =>
      createMcpServer({
        protocol,
        library: Promise.resolve(libraryFor({ drafts: authInfo?.scopes.includes('draft') ?? false })),
        version,
        title: look?.title,
        era,
        // Without sessions, only the newer revision can notify.
        canNotify: era === 'modern',
        hasConnectorTools,
        onDefect: (error) => log.error({ err: error }, 'a defect'),
      }),
    { maxSubscriptions: listenerBounds.maxOfAll, onerror: (error) => log.debug({ err: error }, 'MCP') },
  );
  const notifier = createListChangeNotifier(() => handler.notify.resourcesChanged());
  const subscription = index.onDidChange(notifier.onDidChange);
  return {
    fetch: (request, given) => handler.fetch(request, given),
    async close() {
      subscription.dispose();
      notifier.dispose();
      await handler.close();
    },
  };
}
