import { once } from 'node:events';
import { createServer } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DocumentIndex } from '../search/documentIndex.ts';
import { inTime } from './openRoutes.ts';

/** Measures the app's answers for Prometheus. Nothing in it names a document or a reader. */
export function measureApp(app: FastifyInstance, index: DocumentIndex): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const labelNames = ['route', 'status'] as const;
  const total = { name: 'runner_docs_requests_total', help: 'Answers.' };
  const requests = new Counter({ ...total, labelNames, registers });
  const durations = new Histogram({
    name: 'runner_docs_request_seconds',
    help: 'From the request to the end of the answer.',
    labelNames,
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30],
    registers,
  });
  new Gauge({
    name: 'runner_docs_documents',
    help: 'Documents that a token with the scope read sees.',
    registers,
    async collect() {
      const summary = await inTime(index.summary());
      if (summary !== undefined) this.set(summary.documents);
    },
  });
  app.addHook('onResponse', async (request, reply) => {
    const labels = { route: request.routeOptions.url ?? 'none', status: String(reply.statusCode) };
    requests.inc(labels);
    durations.observe(labels, reply.elapsedTime / 1_000);
  });
  return registry;
}

/** Serves `/metrics`, only on loopback. Returns a function that ends it. */
export async function serveMetrics(registry: Registry, port: number): Promise<() => Promise<void>> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((cause: Error) => {
    throw new Error(`cannot listen on port ${port} for --metrics-port: ${cause.message}.`, { cause });
  });
  return async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
}
