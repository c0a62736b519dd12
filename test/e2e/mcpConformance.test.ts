import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastify from 'fastify';
import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { mountMcp } from '../../docs-service/http/mcp/mcpRoute.ts';
import { answerErrors } from '../../docs-service/http/problems.ts';
import { checkHosts } from '../../docs-service/http/requestChecks.ts';
import { createFixtureHandler } from '../support/conformanceFixture.ts';
import { openTestApp } from '../support/docsApp.ts';
import { listenForMcp } from '../support/mcpClients.ts';
import { runConformance, serveWithToken } from '../support/mcpTools.ts';
import { needs, places } from '../support/parts.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

t.test(
  'fixtures at the mounted route pass everything that the suite requires',
  needs('mcpTools'),
  async (t) => {
    const app = fastify();
    t.teardown(() => app.close());
    app.decorateRequest('grant', null);
    const baseUrl = parseBaseUrl('http://127.0.0.1:4000');
    answerErrors(app, baseUrl);
    checkHosts(app, baseUrl, []);
    mountMcp(app, {
      authorization: { requireReader: async () => undefined, stillReads: async () => true },
      address: `${baseUrl.href}/mcp`,
      openHandler: async () => createFixtureHandler(),
      ending: undefined,
    });
    const url = String(await listenForMcp(app));
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const results = await temporaryFolder(t);
      const { code, output } = await runConformance([
        ...['server', '--url', url, '--requirements', revision, '-o', results],
      ]);
      t.comment(`${revision}\n${output.slice(output.lastIndexOf('SUMMARY') - 20)}`);
      t.equal(code, 0, `nothing fails unexpectedly in ${revision}`);
      const required = requiredScenarios(
        await readFile(
          join(places.mcpModules, `@modelcontextprotocol/conformance/requirements/${revision}.yaml`),
          'utf8',
        ),
      );
      t.ok(required.length >= 30);
      const missing = required.filter((name) => !new RegExp(`✓ ${name}:`).test(output));
      t.strictSame(missing, [], `all ${required.length} required scenarios of ${revision} pass`);
    }
  },
);

/** The names under `server:`. */
function requiredScenarios(yaml: string): readonly string[] {
  const [, list = ''] = /^server:\n((?: +- .*\n)+)/m.exec(yaml) ?? [];
  return [...list.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}

t.test('the library passes every scenario that needs no fixtures', needs('mcpTools'), async (t) => {
  const { app, createToken } = await openTestApp(t, {
    'one.md': '# One\n',
    'collections/c.yaml': 'docs: [one]',
  });
  const address = await listenForMcp(app);
  const scenarios = {
    '2025-11-25': [
      ...['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list'],
      ...['dns-rebinding-protection', 'server-sse-multiple-streams'],
    ],
    '2026-07-28': [
      ...['tools-list', 'resources-list', 'prompts-list', 'sep-2164-resource-not-found', 'caching'],
      ...['dns-rebinding-protection', 'http-header-validation', 'server-sse-multiple-streams'],
    ],
  };
  // Each start of the suite takes seconds, so one runs all that a revision has, also what the library cannot pass.
  const runs = Object.entries(scenarios).map(async ([revision, names]) => {
    const url = String(await serveWithToken(t, address, await createToken()));
    const { output } = await runConformance([
      ...['server', '--url', url, '--requirements', revision, '-o', await temporaryFolder(t)],
    ]);
    for (const name of names) t.match(output, new RegExp(`✓ ${name}:`), `${name} in ${revision}`);
  });
  await Promise.all(runs);
});
