import { join } from 'node:path';
import t from 'tap';
import { callDocs } from '../support/docsCommand.ts';
import { runDocs, serveDocs } from '../support/docsProcess.ts';
import { ownerPassword as password } from '../support/formBrowser.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { letIn, refresh, untilDead } from '../support/tokenClient.ts';

t.test('the owner sets a password, allows a client, and revokes it', async (t) => {
  const content = await temporaryFolder(t, { 'one.md': '# One' });
  const data = join(await temporaryFolder(t), 'data');
  const command = ['owner', 'set-password', '--data', data];
  const badMe = [...command, '--me', 'ftp://x'];
  t.match(await runDocs(command), { code: 2, stderr: /standard input/ });
  t.match(await callDocs(command, { input: 'too short\n' }), { code: 2, stderr: /at least 12 .* has 9/ });
  t.match(await callDocs(badMe, { input: `${password}\n` }), { code: 2, stderr: /--me must be/ });
  t.match(await runDocs(command, { input: 'x'.repeat(20_000) }), { code: 1, stderr: /too long/ });
  t.match(await runDocs(command, { input: `${password}\r\nanother line\n` }), { code: 0, stdout: '' });

  const service = await serveDocs(['--content', content, '--data', data]);
  t.teardown(() => service.stop());
  const tokens = await letIn(service, service);
  t.equal((await service.get('/api/v1/docs', tokens.access_token)).status, 200);
  const listed = await runDocs(['token', 'list', '--data', data]);
  t.match(
    listed.stdout,
    /^ID +NAME +SCOPES +ME +CREATED +EXPIRES +LAST USED +CLIENT\n[0-9a-f]{12} +read +http/,
  );
  t.notMatch(listed.stdout, /rdocs_(?!client)/, 'no token is shown');
  t.match(
    (await runDocs(['client', 'list', '--data', data])).stdout,
    /registered +Test +http:\/\/localhost:8787/,
  );
  const [, id = ''] = /\n(\w{12}) /.exec(listed.stdout) ?? [];
  t.match(await runDocs(['token', 'revoke', id, '--data', data]), { code: 0 });
  await untilDead(service, tokens.access_token);
  t.equal((await refresh(service, tokens)).status, 400, 'and it cannot be refreshed');

  const added = ['--client-id', 'https://app.example/id.json', '--redirect-uri', 'https://app.example/cb'];
  t.match(await runDocs(['client', 'add', ...added, '--name', 'App', '--data', data]), { code: 0 });
  t.match((await runDocs(['client', 'list', '--data', data])).stdout, /app\.example\/id\.json +added +App/);
  t.match(await runDocs(['client', 'remove', 'https://app.example/id.json', '--data', data]), { code: 0 });
  t.match(await callDocs(['client', 'remove', 'https://app.example/id.json', '--data', data]), {
    code: 1,
    stderr: /there is no client/,
  });
  t.match(await callDocs(['client', 'add', '--client-id', 'nonsense', '--data', data]), { code: 2 });
  t.match(await callDocs(['client', 'add', ...added.slice(0, 2), '--redirect-uri', 'javascript:1']), {
    code: 2,
  });
  const secrets = [password, tokens.access_token, tokens.refresh_token];
  const said = service.stdout() + service.stderr();
  t.notOk(
    secrets.some((secret) => said.includes(secret)),
    'the log has no secret',
  );
});
