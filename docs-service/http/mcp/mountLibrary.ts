import type { FastifyInstance } from 'fastify';
import type { BaseUrl } from '../../base/baseUrl.ts';
import type { Renditions } from '../../formats/renditions.ts';
import { createMcpLibrary } from '../../mcp/mcpLibrary.ts';
import { createMcpServer } from '../../mcp/mcpServer.ts';
import type { DocumentIndex } from '../../search/documentIndex.ts';
import type { Authorization } from '../authorization.ts';
import { mountMcp } from './mcpRoute.ts';

export interface MountedLibraryOptions {
  readonly index: DocumentIndex;
  readonly renditions: Pick<Renditions, 'parts'>;
  readonly authorization: Pick<Authorization, 'requireReader' | 'stillReads'>;
  readonly baseUrl: BaseUrl;
  readonly version: string;
  readonly ending?: AbortSignal;
}

/** The library at `/mcp`. */
export function mountLibrary(app: FastifyInstance, options: MountedLibraryOptions): void {
  const { index, authorization, version, ending } = options;
  const libraryFor = createMcpLibrary(options);
  const onDefect = (error: Error) => app.log.error({ err: error }, 'a defect');
  mountMcp(app, {
    authorization,
    origin: options.baseUrl.origin,
    ending,
    onDidChange: (listener) => index.onDidChange(listener),
    createServer: ({ protocol, era, drafts }) =>
      createMcpServer({
        protocol,
        library: Promise.resolve(libraryFor({ drafts })),
        version,
        era,
        // Without sessions, only the newer revision can notify.
        canNotify: era === 'modern',
        onDefect,
      }),
  });
}
