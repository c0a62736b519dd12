import { withTimeLimit } from '../../protocol/base/abort.ts';
import {
  type CatalogParams,
  cloudRequest,
  libraryRequest,
  probeCatalogRequest,
} from '../../protocol/messages/models.ts';
import type { Lazy } from '../base/lazily.ts';
import { catalogParamsSchema, probeCatalogParamsSchema } from '../models/params.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { type Runner, requireAbility } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';
import type { Catalog, CatalogQuery } from './catalog.ts';

/** How long to wait for the installed models, in ms, so that a runner that hangs does not hide the catalog. */
const installedWithin = 2_000;

/** Answers the requests for the public catalogs. */
export function serveCatalog(
  endpoint: Endpoint,
  {
    catalog,
    servers,
    installed,
  }: {
    readonly catalog: Lazy<Catalog>;
    readonly servers: Servers;
    /** The names of the installed models; empty if the server does not answer. */
    readonly installed: (runner: Runner, signal: AbortSignal) => Promise<readonly string[]>;
  },
): void {
  const queryOf = async ({ server, ...query }: CatalogParams, signal: AbortSignal): Promise<CatalogQuery> => {
    const runner = await servers.runner(server, signal);
    requireAbility(runner, 'catalog');
    const reason = new Error('The runner took too long to list its models.');
    const names = withTimeLimit({ limit: installedWithin, reason, signal }, (limited) =>
      installed(runner, limited),
    ).catch((error) => {
      if (error === reason) return [];
      throw error;
    });
    return { ...query, installed: await names };
  };
  endpoint.onRequest(libraryRequest, catalogParamsSchema, async (params, signal) =>
    (await catalog.get()).library(await queryOf(params, signal), signal),
  );
  endpoint.onRequest(cloudRequest, catalogParamsSchema, async (params, signal) =>
    (await catalog.get()).cloud(await queryOf(params, signal), signal),
  );
  endpoint.onRequest(probeCatalogRequest, probeCatalogParamsSchema, async ({ url }, signal) => {
    await (await catalog.get()).probe(url, signal);
    return {};
  });
}
