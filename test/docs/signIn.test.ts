import t from 'tap';
import { PasswordCheck } from '../../docs-service/auth/passwords.ts';
import { answerOf, ownerPassword, signIn } from '../support/formBrowser.ts';
import { challenge, openSignInApp, redirectUri, verifier } from '../support/signIn.ts';

const origin = 'http://127.0.0.1:4000';

/** For all tests that leave its clock where it is, or set it back. */
const shared = await openSignInApp(t, { files: { 'secret.md': '---\ndraft: true\n---\n# Secret' } });
/** With few wrong passwords and tokens a minute. */
const strict = await openSignInApp(t, { limits: { requests: 1_000, renders: 10, authFailures: 3 } });

t.test(
  'a client gets a token by the browser, reads with it, refreshes it, and loses it when it is revoked',
  async (t) => {
    const { allow, redeem, post, get, client, app } = shared;
    const answer = await allow();
    t.equal(answer.get('state'), 'a state & more');
    t.equal(answer.get('iss'), origin);
    const answered = await redeem(answer.get('code') ?? '');
    t.equal(answered.statusCode, 200);
    t.equal(answered.headers['cache-control'], 'no-store');
    const tokens = answered.json();
    t.match(tokens, { token_type: 'Bearer', scope: 'read', expires_in: 3_600, me: `${origin}/` });
    const read = (token: string) => get('/api/v1/docs', { headers: { authorization: `Bearer ${token}` } });
    t.equal((await read(tokens.access_token)).statusCode, 200);

    const refreshed = await post('/token', {
      ...{ grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: client },
    });
    t.equal(refreshed.statusCode, 200);
    t.not(refreshed.json().access_token, tokens.access_token);
    t.equal((await read(refreshed.json().access_token)).statusCode, 200);

    t.equal((await post('/revoke', { token: refreshed.json().access_token })).statusCode, 200);
    t.equal((await post('/revoke', { token: 'unknown' })).statusCode, 200, 'whoever asks learns nothing');
    await app.ready();
    const after = await post('/token', {
      ...{ grant_type: 'refresh_token', refresh_token: refreshed.json().refresh_token, client_id: client },
    });
    t.equal(after.json().error, 'invalid_grant', 'the refresh tokens end with it');
  },
);

t.test('what an authorization request must contain', async (t) => {
  const { authorizeUrl, app, client } = shared;
  const open = (url: string) => app.inject({ url, headers: { host: '127.0.0.1:4000' } });
  const pages = [
    ['no client', { client_id: undefined }],
    ['an unknown client', { client_id: 'rdocs_client_nobody' }],
    ['a client that no text can name', { client_id: '\0' }],
    ['a client on a private network', { client_id: 'https://10.0.0.1/client.json' }],
    ['no redirect', { redirect_uri: undefined }],
    ['another redirect', { redirect_uri: 'https://evil.example/callback' }],
    ['another path', { redirect_uri: 'http://127.0.0.1:50000/other' }],
    ['another loopback name', { redirect_uri: 'http://localhost:50000/callback' }],
    ['a redirect to a script', { redirect_uri: 'javascript:alert(1)' }],
    ['a state that is too long', { state: 'a'.repeat(8_193) }],
    ['a redirect with a user', { redirect_uri: 'http://127.0.0.1:50000@evil.example/callback' }],
  ] as const;
  for (const [name, changes] of pages)
    t.test(`${name}: a page, and nobody is sent anywhere`, async (t) => {
      const { statusCode, headers, body } = await open(authorizeUrl(changes));
      t.equal(statusCode, 400);
      t.equal(headers.location, undefined);
      t.match(headers['content-type'], 'text/html');
      t.match(body, 'Nothing was allowed');
    });
  t.test('another resource beside this one is refused, back at the client', async (t) => {
    const url = `${authorizeUrl({ resource: `${origin}/mcp` })}&resource=https://elsewhere.example/mcp`;
    t.match((await open(url)).headers.location, 'error=invalid_target');
  });
  t.test('client_id given twice is answered with a page', async (t) => {
    t.equal((await open(`${authorizeUrl()}&client_id=${client}`)).statusCode, 400);
  });

  const redirects = [
    ['no state', { state: undefined }, 'invalid_request'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['a challenge of another form', { code_challenge: 'short' }, 'invalid_request'],
    ['PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['PKCE without a method', { code_challenge_method: undefined }, 'invalid_request'],
    ['a token at once', { response_type: 'token' }, 'unsupported_response_type'],
    ['another resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    [
      'another resource without a state',
      { state: undefined, resource: 'https://elsewhere.example/mcp' },
      'invalid_target',
    ],
    [
      'no challenge and no state, with the resource',
      { state: undefined, code_challenge: undefined, resource: `${origin}/mcp` },
      'invalid_request',
    ],
    ['unknown scopes alone', { scope: 'write admin' }, 'invalid_scope'],
    ['an address of mail without the profile', { scope: 'email' }, 'invalid_scope'],
  ] as const;
  for (const [name, changes, error] of redirects)
    t.test(`${name}: ${error}, back at the client`, async (t) => {
      const { statusCode, headers } = await open(authorizeUrl(changes));
      t.equal(statusCode, 302);
      const location = new URL(String(headers.location));
      t.equal(location.origin + location.pathname, redirectUri);
      t.equal(location.searchParams.get('error'), error);
      t.equal(location.searchParams.get('state'), 'state' in changes ? null : 'a state & more');
      t.equal(location.searchParams.get('iss'), origin);
    });

  const fine = [
    ['another port of the same machine', { redirect_uri: 'http://127.0.0.1:61234/callback' }],
    ['the resource', { resource: `${origin}/mcp` }],
    ['the whole service', { resource: `${origin}/` }],
    ['the resource with an empty state', { state: '', resource: origin }],
    ['another name of this machine', { resource: 'http://localhost:4999/mcp' }],
    ['a scope that is unknown beside one that is known', { scope: 'write read' }],
    ['the longest state', { state: 'a'.repeat(8_192) }],
  ] as const;
  for (const [name, changes] of fine)
    t.test(`${name}: the owner is asked`, async (t) => {
      const { statusCode, headers } = await open(authorizeUrl(changes));
      t.equal(statusCode, 303);
      t.match(headers.location, /^\/sign-in\?to=%2Fauthorize/);
    });
});

t.test('a code works once, within a minute, and only for its client', async (t) => {
  const app = shared;
  const begun = app.now();
  t.teardown(() => app.setClock(begun));
  const other = await app.app.inject({
    ...{ method: 'POST', url: '/register', headers: { host: '127.0.0.1:4000' } },
    payload: { redirect_uris: [redirectUri] },
  });
  const browser = app.openBrowser();
  const cases = [
    ['another verifier', { code_verifier: verifier.replace('a', 'b') }, 'invalid_grant'],
    ['the challenge as verifier', { code_verifier: challenge }, 'invalid_grant'],
    ['no verifier', { code_verifier: undefined }, 'invalid_request'],
    ['another client', { client_id: other.json().client_id }, 'invalid_grant'],
    ['an unknown client', { client_id: 'rdocs_client_x' }, 'invalid_client'],
    ['no client', { client_id: undefined }, 'invalid_request'],
    ['another redirect', { redirect_uri: `${redirectUri}2` }, 'invalid_grant'],
    ['no redirect', { redirect_uri: undefined }, 'invalid_request'],
    ['another resource', { resource: 'https://elsewhere.example/' }, 'invalid_target'],
    ['another code', { code: 'rdocs_code_x' }, 'invalid_grant'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ] as const;
  for (const [name, changes, error] of cases)
    t.test(name, async (t) => {
      const code = (await app.allow({}, browser)).get('code') ?? '';
      const refused = await app.redeem(code, changes);
      t.equal(refused.json().error, error);
      t.equal(refused.statusCode, error === 'invalid_client' ? 401 : 400);
      t.equal(refused.headers['cache-control'], 'no-store');
      t.notMatch(refused.body, code);
    });

  t.test('a client may name itself by HTTP Basic, without a secret', async (t) => {
    const document = 'https://agent.example/client.json';
    const cases = [
      { basic: `${app.client}:`, client_id: undefined, want: undefined },
      { basic: `${app.client}:`, client_id: app.client, want: undefined },
      { basic: `${encodeURIComponent(document)}:`, client_id: document, want: 'invalid_grant' },
      { basic: `${document}:`, client_id: undefined, want: 'invalid_grant' },
      { basic: `${app.client}:`, client_id: other.json().client_id, want: 'invalid_request' },
      { basic: `${app.client}:secret`, client_id: undefined, want: 'invalid_request' },
      { basic: 'a&client_id=b:', client_id: undefined, want: 'invalid_request' },
      { basic: '%zz:', client_id: undefined, want: 'invalid_client' },
    ];
    for (const { basic, client_id, want } of cases) {
      const code = (await app.allow({}, browser)).get('code') ?? '';
      const answer = (await app.redeem(code, { client_id }, basic)).json();
      t.equal(answer.error, want, basic);
      if (want !== undefined) continue;
      const { refresh_token } = answer;
      const renewed = await app.post('/token', { grant_type: 'refresh_token', refresh_token }, basic);
      t.equal(renewed.statusCode, 200);
      t.equal((await app.post('/revoke', { token: refresh_token }, basic)).statusCode, 200);
    }
  });

  t.test('using a code twice ends the tokens of the first use', async (t) => {
    const code = (await app.allow({}, browser)).get('code') ?? '';
    const { access_token, refresh_token } = (await app.redeem(code)).json();
    t.equal((await app.redeem(code)).json().error, 'invalid_grant');
    app.setClock(app.now() + 1_000);
    const read = await app.get('/api/v1/docs', { headers: { authorization: `Bearer ${access_token}` } });
    t.equal(read.statusCode, 401);
    const refreshed = await app.post('/token', {
      ...{ grant_type: 'refresh_token', refresh_token, client_id: app.client },
    });
    t.equal(refreshed.json().error, 'invalid_grant');
  });

  t.test('of ten simultaneous uses one gets tokens, and they end', async (t) => {
    const code = (await app.allow({}, browser)).get('code') ?? '';
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.redeem(code)));
    t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
  });

  t.test('a code expires after a minute', async (t) => {
    const code = (await app.allow({}, browser)).get('code') ?? '';
    app.setClock(app.now() + 60_000);
    t.equal((await app.redeem(code)).json().error, 'invalid_grant');
  });

  t.test('a new password of the owner ends codes too', async (t) => {
    const code = (await app.allow({}, browser)).get('code') ?? '';
    const { password } = await app.access.owners.read();
    await app.access.owners.setPassword({ password: password ?? '' });
    t.equal((await app.redeem(code)).json().error, 'invalid_grant');
  });
});

t.test('refresh tokens', async (t) => {
  const app = await openSignInApp(t);
  const browser = app.openBrowser();
  const begin = async (scope = 'read draft') => {
    const code = (await app.allow({ scope }, browser)).get('code') ?? '';
    return (await app.redeem(code)).json();
  };
  const refresh = (refresh_token: string, changes: Record<string, string> = {}) =>
    app.post('/token', {
      ...{ grant_type: 'refresh_token', refresh_token, client_id: app.client },
      ...changes,
    });

  t.test('five processes of one client can refresh at once, and their tokens all work', async (t) => {
    const { refresh_token } = await begin();
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(refresh_token)));
    for (const answer of answers) {
      t.equal(answer.statusCode, 200);
      t.equal((await refresh(answer.json().refresh_token)).statusCode, 200);
    }
  });

  // In each step `minute:token`, a refresh token is used, the first one being 0, and renewed or, with `!`, refused.
  const reuses = [
    { name: 'is good for half an hour', steps: '0:0 29:0 29:1 29:2' },
    { name: 'is then refused alone', steps: '0:0 30:0! 31:1 60:0! 61:2' },
    {
      name: 'ends the grant half an hour after its successor was replaced',
      steps: '0:0 1:1 30:0! 30:2 31:0! 31:3!',
    },
    { name: 'ends it after any of its successors', steps: '0:0 1:0 2:2 32:0! 32:1!' },
    { name: 'does not end it after the successor of another', steps: '0:0 1:0 2:2 40:1 75:1! 75:3' },
  ];
  for (const { name, steps } of reuses)
    t.test(`a refresh token that was replaced ${name}`, async (t) => {
      const [from, { access_token, refresh_token }] = [app.now(), await begin()];
      const tokens: string[] = [refresh_token];
      for (const [step, minute, token, mark] of steps.matchAll(/(\d+):(\d)(!?)/g)) {
        app.setClock(from + Number(minute) * 60_000);
        const answer = (await refresh(tokens[Number(token)] ?? '')).json();
        t.equal(answer.error, mark === '!' ? 'invalid_grant' : undefined, step);
        if (mark === '') tokens.push(answer.refresh_token);
      }
      const read = await app.get('/api/v1/docs', { headers: { authorization: `Bearer ${access_token}` } });
      const isAlive = app.now() - from < 60 * 60_000 && !name.startsWith('ends');
      t.equal(read.statusCode, isAlive ? 200 : 401);
    });

  t.test('refresh tokens last 30 days from their last use, and access tokens an hour', async (t) => {
    const first = await begin();
    app.setClock(app.now() + 3_600_000);
    const read = await app.get('/api/v1/docs', {
      headers: { authorization: `Bearer ${first.access_token}` },
    });
    t.equal(read.statusCode, 401);
    app.setClock(app.now() + 29 * 86_400_000);
    const second = await refresh(first.refresh_token);
    t.equal(second.statusCode, 200);
    app.setClock(app.now() + 29 * 86_400_000);
    t.equal((await refresh(second.json().refresh_token)).statusCode, 200);
    app.setClock(app.now() + 30 * 86_400_000);
    t.equal((await refresh(second.json().refresh_token)).json().error, 'invalid_grant');
  });

  t.test('a client that revokes its refresh token loses the access token too (RFC 7009, 2.1)', async (t) => {
    const { access_token, refresh_token } = await begin();
    t.equal((await app.post('/revoke', { token: refresh_token })).statusCode, 200);
    t.equal((await refresh(refresh_token)).json().error, 'invalid_grant');
    app.setClock(app.now() + 1_000);
    const headers = { authorization: `Bearer ${access_token}` };
    t.equal((await app.get('/api/v1/docs', { headers })).statusCode, 401);
  });

  t.test('a refresh can leave scopes out, but not add any', async (t) => {
    const { refresh_token } = await begin();
    const narrow = await refresh(refresh_token, { scope: 'read' });
    t.equal(narrow.json().scope, 'read');
    t.equal(
      (await refresh(narrow.json().refresh_token)).json().scope,
      'read draft',
      'the grant is as wide as before',
    );
    t.equal((await refresh(refresh_token, { scope: 'read profile' })).json().error, 'invalid_scope');
    t.equal(
      (await refresh(refresh_token, { client_id: 'https://other.example/' })).json().error,
      'invalid_grant',
    );
    t.equal(
      (await refresh(refresh_token, { resource: 'https://other.example/' })).json().error,
      'invalid_target',
    );
  });

  t.test('a new password of the owner ends refresh tokens', async (t) => {
    const { refresh_token } = await begin();
    const { password } = await app.access.owners.read();
    await app.access.owners.setPassword({ password: password ?? '' });
    t.equal((await refresh(refresh_token)).json().error, 'invalid_grant');
  });
});

t.test('scopes', async (t) => {
  const app = shared;
  const browser = app.openBrowser();

  t.test('the owner may allow less than was asked for', async (t) => {
    await signIn(browser, app.authorizeUrl({ scope: 'draft read' }));
    t.match(browser.page.body, /value="draft"[^>]*checked/);
    t.notMatch(browser.page.body, 'value="email"', 'nothing else is offered');
    const code = answerOf(await browser.submit({ decision: 'allow', scope: 'read' })).get('code') ?? '';
    t.equal((await app.redeem(code)).json().scope, 'read');
  });
  t.test('a form cannot grant more scopes than the app asked for', async (t) => {
    await signIn(browser, app.authorizeUrl({ scope: 'read' }));
    const page = await browser.submit({ decision: 'allow', scope: 'draft' });
    t.match(page.body, 'Nothing is ticked');
    t.equal(answerOf(await browser.submit({ decision: 'cancel' })).get('error'), 'access_denied');
  });
  t.test('the owner refuses', async (t) => {
    await signIn(browser, app.authorizeUrl());
    const answer = answerOf(await browser.submit({ decision: 'cancel' }));
    t.equal(answer.get('error'), 'access_denied');
    t.equal(answer.get('state'), 'a state & more');
  });
  t.test('with a resource and no scope, reading is offered', async (t) => {
    const code =
      (await app.allow({ scope: undefined, resource: `${origin}/mcp` }, browser)).get('code') ?? '';
    t.equal((await app.redeem(code, { resource: `${origin}/mcp` })).json().scope, 'read');
  });
  t.test('without a resource and a scope, a code identifies the owner and gives no token', async (t) => {
    const code = (await app.allow({ scope: undefined }, browser)).get('code') ?? '';
    t.match((await browser.open(app.authorizeUrl({ scope: undefined }))).body, 'cannot read anything');
    t.equal((await app.redeem(code)).json().error, 'invalid_scope');
    const another = (await app.allow({ scope: undefined }, browser)).get('code') ?? '';
    const fields = { client_id: app.client, redirect_uri: redirectUri, code_verifier: verifier };
    const identity = await app.post('/authorize', {
      grant_type: 'authorization_code',
      code: another,
      ...fields,
    });
    t.same(identity.json(), { me: `${origin}/` });
    const again = await app.post('/authorize', { code: another, ...fields });
    t.equal(again.json().error, 'invalid_grant');
  });
  t.test('the profile has the email address only if the app asked for it', async (t) => {
    await app.access.owners.setProfile({ name: 'Ada', email: 'ada@example.org' });
    const profile = { url: `${origin}/`, name: 'Ada' };
    const code = (await app.allow({ scope: 'profile' }, browser)).get('code') ?? '';
    const tokens = (await app.redeem(code)).json();
    t.same(tokens.profile, profile);
    const ask = (token: string) => app.get('/userinfo', { headers: { authorization: `Bearer ${token}` } });
    t.same((await ask(tokens.access_token)).json(), profile);
    const both = (await app.allow({ scope: 'profile email' }, browser)).get('code') ?? '';
    t.same((await app.redeem(both)).json().profile, { ...profile, email: 'ada@example.org' });
    const reading = await app.get('/userinfo');
    t.equal(reading.statusCode, 403);
    t.match(reading.headers['www-authenticate'], /error="insufficient_scope".*scope="profile"/);
    const refused = await app.get('/api/v1/docs', {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    t.equal(refused.statusCode, 403);
    t.match(refused.headers['www-authenticate'], 'error="insufficient_scope"');
  });
  t.test('drafts', async (t) => {
    const code = (await app.allow({ scope: 'read draft' }, browser)).get('code') ?? '';
    const { access_token } = (await app.redeem(code)).json();
    const list = await app.get('/api/v1/docs', { headers: { authorization: `Bearer ${access_token}` } });
    t.equal(list.json().total, 2);
    t.equal((await app.get('/api/v1/docs')).json().total, 1);
  });
});

t.test('introspection', async (t) => {
  const app = shared;
  const begun = app.now();
  t.teardown(() => app.setClock(begun));
  const requester = await app.createToken(['profile']);
  const code = (await app.allow()).get('code') ?? '';
  const { access_token, refresh_token } = (await app.redeem(code)).json();
  const ask = (token: string, by: string | undefined = requester) => app.post('/introspect', { token }, by);
  t.match((await ask(access_token)).json(), { active: true });
  t.same((await ask('rdocs_unknown')).json(), { active: false });
  t.same((await ask(refresh_token)).json(), { active: false });
  t.equal((await app.post('/introspect', { token: access_token })).statusCode, 401, 'who asks needs a token');
  t.equal((await ask(access_token, 'rdocs_wrong')).statusCode, 401);
  t.equal((await ask(requester)).json().error, 'invalid_request', 'a token does not ask about itself');
  t.equal((await app.post('/introspect', {}, requester)).json().error, 'invalid_request');
  app.setClock(app.now() + 3_600_000);
  t.same((await ask(access_token, await app.createToken())).json(), { active: false });
});

t.test('guessing tokens by introspection is limited', async (t) => {
  const app = strict;
  const requester = await app.createToken();
  const codes = [];
  for (const at of [1, 2, 3, 4])
    codes.push((await app.post('/introspect', { token: `rdocs_${at}` }, requester)).statusCode);
  t.same(codes, [200, 200, 200, 429]);
});

t.test('the password', async (t) => {
  const app = strict;

  t.test('the right password opens a session of a week, in a cookie that scripts cannot read', async (t) => {
    const browser = app.openBrowser();
    await browser.open('/sign-in?to=/docs');
    t.match(browser.page.headers['content-security-policy'], "frame-ancestors 'none'");
    t.equal(browser.page.headers['cache-control'], 'no-store');
    const page = await browser.submit({ password: ownerPassword });
    t.equal(new URL(page.url).pathname, '/docs');
    t.strictSame([...browser.cookies.keys()].sort(), ['docs_form_4000', 'docs_session_4000']);
    t.equal(browser.attributesOf('docs_session_4000'), 'Max-Age=604800; Path=/; HttpOnly; SameSite=Lax');
    t.equal(
      new URL((await browser.open('/sign-in?to=/docs')).url, origin).pathname,
      '/docs',
      'it is known now',
    );
    app.setClock(app.now() + 7 * 86_400_000);
    t.match((await browser.open('/sign-in?to=/docs')).body, 'type="password"');
  });

  t.test('a wrong password', async (t) => {
    const browser = app.openBrowser();
    await browser.open('/sign-in');
    const page = await browser.submit({ password: 'wrong horse battery staple' });
    t.equal(page.status, 403);
    t.match(page.body, 'This is not the password.');
    t.notMatch(page.body, 'wrong horse');
  });

  t.test('simultaneous guesses from one address are limited like successive ones', async (t) => {
    app.setClock(app.now() + 120_000);
    const browsers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const browser = app.openBrowser();
        await browser.open('/sign-in');
        return browser;
      }),
    );
    const pages = await Promise.all(
      browsers.map((browser) => browser.submit({ password: 'wrong wrong wrong' })),
    );
    const codes = pages.map(({ status }) => status);
    t.equal(codes.filter((code) => code === 403).length, 3);
    t.equal(codes.filter((code) => code === 429).length, 5);
    const [browser] = browsers;
    t.equal((await browser?.submit({ password: ownerPassword }))?.status, 429, 'the right one waits too');
    app.setClock(app.now() + 61_000);
    await browser?.open('/sign-in?to=/docs');
    t.equal(new URL((await browser?.submit({ password: ownerPassword }))?.url ?? '').pathname, '/docs');
  });

  for (const to of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/a\nb',
    'docs',
    'javascript:1',
  ])
    t.test(`a sign-in does not lead to ${JSON.stringify(to)}`, async (t) => {
      const browser = app.openBrowser();
      await browser.open(`/sign-in?to=${encodeURIComponent(to)}`);
      t.equal(browser.page.status, 400);
      await browser.open('/sign-in');
      t.equal((await browser.submit({ password: ownerPassword, to })).status, 400);
    });
});

t.test('forged forms and cookies', async (t) => {
  const app = shared;
  const browser = app.openBrowser();
  await signIn(browser, app.authorizeUrl());
  t.equal((await browser.submit({ decision: 'allow' }, { origin: 'https://evil.example' })).status, 403);
  await browser.open(app.authorizeUrl());
  t.equal((await browser.submit({ decision: 'allow' }, { origin: 'null' })).status, 403);
  await browser.open(app.authorizeUrl());
  t.equal((await browser.submit({ decision: 'allow', csrf: '' })).status, 403);
  await browser.open(app.authorizeUrl());
  t.equal((await browser.submit({ decision: 'allow', csrf: 'made-up.token' })).status, 403);
  const other = app.openBrowser();
  await other.open('/sign-in');
  const foreign = /name="csrf" value="([^"]+)"/.exec(other.page.body)?.[1] ?? '';
  await browser.open(app.authorizeUrl());
  t.equal(
    (await browser.submit({ decision: 'allow', csrf: foreign })).status,
    403,
    "another browser's token",
  );
  const forged = await app.app.inject({
    url: app.authorizeUrl(),
    headers: { host: '127.0.0.1:4000', cookie: `docs_session_4000=rdocs_session_${'A'.repeat(43)}` },
  });
  t.match(forged.headers.location, '/sign-in', 'a cookie that was made up is none');
  await browser.open(app.authorizeUrl());
  const swapped = app.authorizeUrl({ redirect_uri: 'https://evil.example/' }).slice('/authorize?'.length);
  t.equal(
    (await browser.submit({ decision: 'allow', request: swapped })).status,
    400,
    'all is checked once more',
  );
  await browser.open(app.authorizeUrl());
  const { password } = await app.access.owners.read();
  await app.access.owners.setPassword({ password: password ?? '' });
  t.match((await browser.submit({ decision: 'allow' })).body, 'type="password"', 'the session has ended');
});

t.test('a page at another port of this machine cannot consent for the owner', async (t) => {
  const app = shared;
  const browser = app.openBrowser();
  await signIn(browser, app.authorizeUrl());
  // That page can set cookies for this host, and knows the form token that goes with its own.
  const page = app.openBrowser();
  await page.open('/sign-in');
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.page.body)?.[1] ?? '';
  const [session = ''] = [...browser.cookies]
    .filter(([name]) => name.includes('session'))
    .map((one) => one.join('='));
  const planted = [...page.cookies].map((one) => one.join('=')).join('; ');
  const decide = (headers: Record<string, string>) =>
    app.app.inject({
      ...{ method: 'POST', url: '/authorize/decision' },
      headers: {
        ...{ host: '127.0.0.1:4000', cookie: `${session}; ${planted}` },
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      payload: new URLSearchParams({
        ...{
          csrf,
          decision: 'allow',
          scope: 'read',
          request: app.authorizeUrl().slice('/authorize?'.length),
        },
      }).toString(),
    });
  for (const headers of [
    { origin: 'http://127.0.0.1:4399' },
    { origin: 'http://localhost:4000' },
    { origin, 'sec-fetch-site': 'same-site' },
    { origin },
    {},
  ]) {
    const { statusCode, headers: answered } = await decide(headers);
    t.equal(statusCode, 403, JSON.stringify(headers));
    t.equal(answered.location, undefined);
  }
});

t.test(
  'many passwords at once are hashed a few at a time, and no more wait than can be served',
  async (t) => {
    const app = shared;
    const check = new PasswordCheck({ owners: app.access.owners, now: app.now, limit: 10 });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) => check.check('wrong wrong wrong', `192.0.2.${at}`)),
    );
    const kinds = answers.map(({ kind }) => kind);
    t.equal(kinds.filter((kind) => kind === 'wrong').length, 10, 'two at once, and eight that wait');
    t.equal(kinds.filter((kind) => kind === 'busy').length, 20);
    t.match(
      await check.check(ownerPassword, '192.0.2.99'),
      { kind: 'right' },
      'and then there is room again',
    );
  },
);

t.test('registration', async (t) => {
  const app = shared;
  const register = (payload: unknown, more = {}) =>
    app.app.inject({
      ...{
        method: 'POST',
        url: '/register',
        headers: { host: '127.0.0.1:4000', 'content-type': 'application/json' },
      },
      ...{ payload: JSON.stringify(payload), remoteAddress: '192.0.2.1' },
      ...more,
    });
  const bad = [
    { name: 'no redirects', body: {}, error: 'invalid_redirect_uri' },
    {
      name: 'a script among usable ones',
      body: { redirect_uris: ['https://a.example/', 'javascript:x'] },
      error: 'invalid_redirect_uri',
    },
    { name: 'no object', body: [], error: 'invalid_client_metadata' },
  ];
  for (const [at, { name, body, error }] of bad.entries())
    t.test(name, async (t) => {
      const answer = await register(body, { remoteAddress: `192.0.3.${at}` });
      t.equal(answer.statusCode, 400);
      t.equal(answer.json().error, error);
      t.ok(answer.json().error_description);
    });
  t.test('invalid JSON and other media types', async (t) => {
    const broken = await register({}, { payload: '{"redirect_uris":', remoteAddress: '192.0.5.1' });
    t.match(broken.json(), {
      error: 'invalid_client_metadata',
      error_description: 'The body is not valid JSON.',
    });
    const xml = { host: '127.0.0.1:4000', 'content-type': 'application/xml' };
    const other = await app.app.inject({ method: 'POST', url: '/token', headers: xml, payload: '<a/>' });
    t.match([other.statusCode, other.json().error], [400, 'invalid_request']);
  });
  t.test('no secret is issued, and the answer says so', async (t) => {
    const answer = await register({
      ...{ redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'] },
      ...{ token_endpoint_auth_method: 'client_secret_post', client_name: 'Name' },
    });
    t.equal(answer.statusCode, 201);
    t.match(answer.json(), { token_endpoint_auth_method: 'none', client_name: 'Name' });
    t.notOk('client_secret' in answer.json());
  });
  t.test('the name of a client loses what could mislead', async (t) => {
    const names: readonly (readonly [name: unknown, want: string | undefined])[] = [
      ['Claude Code', 'Claude Code'],
      ['A\u0000B\u001b[31mC', 'AB[31mC'],
      ['\u202eevil\u202c \u2066x\u2069', 'evil x'],
      ['A\u200b\ufeff\u00adB', 'AB'],
      ['A\ud800B', 'AB'],
      ['x'.repeat(100), 'x'.repeat(100)],
      ['x'.repeat(101), `${'x'.repeat(99)}…`],
      [' \u200b ', undefined],
      [{ toString: () => 'x' }, undefined],
      [`a${'\u0301'.repeat(900)}`, `\u00e1${'\u0301'.repeat(7)}`],
    ];
    for (const [at, [client_name, want]] of names.entries()) {
      const body = { redirect_uris: [redirectUri], client_name };
      const answer = await register(body, { remoteAddress: `192.0.8.${at}` });
      t.equal(answer.json().client_name, want, String(want));
    }
  });
  t.test('ten registrations a minute for an address', async (t) => {
    const codes = [];
    const body = { redirect_uris: [redirectUri] };
    for (let at = 0; at < 11; at += 1)
      codes.push((await register(body, { remoteAddress: '192.0.4.1' })).statusCode);
    t.same(codes, [...Array(10).fill(201), 429]);
  });
  t.test('many registrations of strangers keep nobody from registering', async (t) => {
    const body = { redirect_uris: [redirectUri] };
    const codes = new Set<number>();
    for (let at = 0; at < 200; at += 1)
      codes.add((await register(body, { remoteAddress: `192.0.6.${at % 20}` })).statusCode);
    codes.add((await register(body, { remoteAddress: '192.0.7.1' })).statusCode);
    t.same([...codes], [201]);
  });
});

t.test('a client that the owner added', async (t) => {
  const app = shared;
  const id = 'https://client.example/metadata.json';
  const first = await app.app.inject({
    url: app.authorizeUrl({ client_id: id }),
    headers: { host: '127.0.0.1:4000' },
  });
  t.equal(first.statusCode, 400);
  const text = (page: { readonly body: string }) =>
    page.body.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
  t.match(text(first), `runner-docs client add --client-id ${id} --redirect-uri ${redirectUri} --name`);
  for (const redirect_uri of ['https://evil.example/cb', 'evil.example://localhost/cb']) {
    const elsewhere = await app.app.inject({
      url: app.authorizeUrl({ client_id: id, redirect_uri }),
      headers: { host: '127.0.0.1:4000' },
    });
    t.equal(elsewhere.statusCode, 400);
    t.match(
      text(elsewhere),
      `runner-docs client add --client-id ${id} --redirect-uri REDIRECT_ADDRESS --name`,
    );
    t.match(
      text(elsewhere),
      "Replace REDIRECT_ADDRESS with the redirect address (redirect URI) in the app's own documentation",
    );
    t.notMatch(text(elsewhere), 'evil.example', 'nobody is shown how to let a stranger in');
  }
  await app.access.clients.add(
    { id, name: 'Mine', uri: null, redirectUris: ['http://localhost/callback'], source: 'operator' },
    app.now(),
  );
  const mismatch = await app.app.inject({
    url: app.authorizeUrl({ client_id: id, redirect_uri: 'https://evil.example/cb' }),
    headers: { host: '127.0.0.1:4000' },
  });
  t.equal(mismatch.statusCode, 400);
  t.notMatch(mismatch.body, 'client add', 'nobody is shown how to let a stranger in under its name');
  const code = await app.allow({ client_id: id, redirect_uri: 'http://localhost:33418/callback' });
  const redeemed = await app.redeem(code.get('code') ?? '', {
    ...{ client_id: id, redirect_uri: 'http://localhost:33418/callback' },
  });
  t.equal(redeemed.statusCode, 200);
  t.ok(await app.access.clients.remove(id));
  const refreshed = await app.post('/token', {
    ...{ grant_type: 'refresh_token', refresh_token: redeemed.json().refresh_token, client_id: id },
  });
  t.equal(refreshed.json().error, 'invalid_grant', 'what it was allowed ends with it');
});

t.test('what clients read about the service, and about themselves and their tokens', async (t) => {
  const app = shared;
  const ask = async (url: string) => app.app.inject({ url, headers: { host: '127.0.0.1:4000' } });
  const resource = await ask('/.well-known/oauth-protected-resource/mcp');
  t.equal(resource.headers['cache-control'], 'public, max-age=300');
  t.strictSame(resource.json(), {
    ...{ resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['read'] },
    ...{ bearer_methods_supported: ['header'], resource_name: 'runner-docs' },
    resource_documentation: `${origin}/docs`,
  });
  const server = await ask('/.well-known/oauth-authorization-server');
  t.equal(server.headers['cache-control'], 'public, max-age=300');
  t.strictSame(server.json(), {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    client_id_metadata_document_supported: true,
    registration_endpoint: `${origin}/register`,
    introspection_endpoint: `${origin}/introspect`,
    introspection_endpoint_auth_methods_supported: ['Bearer'],
    revocation_endpoint: `${origin}/revoke`,
    revocation_endpoint_auth_methods_supported: ['none'],
    userinfo_endpoint: `${origin}/userinfo`,
    scopes_supported: ['read', 'draft', 'profile', 'email'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${origin}/docs`,
  });
  const page = (length: number) => 'https://app.example/'.padEnd(length, 'a');
  const register = (payload: object) =>
    app.app.inject({
      ...{ method: 'POST', url: '/register', headers: { host: '127.0.0.1:4000' } },
      ...{ payload, remoteAddress: '192.0.9.1' },
    });
  const redirects = Array.from({ length: 20 }, (_, at) => `https://app.example/${at}`);
  const registered = await register({ redirect_uris: redirects, client_uri: page(2_048) });
  t.strictSame(registered.json(), {
    client_id: registered.json().client_id,
    client_id_issued_at: Math.floor(app.now() / 1_000),
    client_uri: page(2_048),
    redirect_uris: redirects,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  });
  t.equal(registered.headers['cache-control'], 'no-store');
  const more = await register({ redirect_uris: [...redirects, 'https://app.example/20'] });
  t.match([more.statusCode, more.json().error_description], [400, /1 to 20 addresses/]);
  for (const client_uri of [page(2_049), 'ftp://app.example/', 'https://a@app.example/', 'app', 1]) {
    const answer = await register({ redirect_uris: redirects, client_uri });
    t.strictSame(
      [answer.statusCode, answer.json().client_uri],
      [201, undefined],
      String(client_uri).slice(0, 40),
    );
  }
  const { access_token: token } = (await app.redeem((await app.allow()).get('code') ?? '')).json();
  const issued = Math.floor(app.now() / 1_000);
  t.strictSame((await app.post('/introspect', { token }, await app.createToken())).json(), {
    ...{ active: true, me: `${origin}/`, client_id: app.client, scope: 'read', token_type: 'Bearer' },
    ...{ exp: issued + 3_600, iat: issued, iss: origin, aud: `${origin}/mcp` },
  });
  const own = await app.createToken();
  const about = (await app.post('/introspect', { token: own }, await app.createToken())).json();
  t.match(about, { active: true, me: `${origin}/`, client_id: `${origin}/` }, 'a token of the owner');

  const id = String(registered.json().client_id);
  const browser = app.openBrowser();
  const asks = (client_id: string, redirect_uri: string) => app.authorizeUrl({ client_id, redirect_uri });
  await signIn(browser, asks(id, 'https://app.example/7'));
  const consent = await browser.open(asks(id, 'https://app.example/7'));
  t.match(consent.body, '<span class="host"><bdi class="foreign">app.example</bdi></span>');
  t.notMatch(consent.body, "not the app's own site", 'a client without an address has no site of its own');
});

t.test('until a password is set, the page says how to set one, and every password is wrong', async (t) => {
  const { openBrowser, authorizeUrl } = await openSignInApp(t, { hasPassword: false });
  const browser = openBrowser();
  const page = await browser.open(authorizeUrl());
  t.match(page.body, 'runner-docs owner set-password');
  t.notMatch(page.body, '<form');
});

t.test('under another name of this machine, the metadata and the challenge use that name', async (t) => {
  const { app } = shared;
  const ask = (url: string) => app.inject({ url, headers: { host: 'localhost:4000' } });
  const challengeOf = String((await ask('/api/v1/docs')).headers['www-authenticate']);
  t.match(challengeOf, 'resource_metadata="http://localhost:4000/.well-known/oauth-protected-resource"');
  t.match(challengeOf, 'scope="read"');
  t.notMatch(challengeOf, 'error=', 'no token is no error');
  const resource = (await ask('/.well-known/oauth-protected-resource/mcp')).json();
  t.equal(resource.resource, 'http://localhost:4000/mcp');
  t.same(resource.authorization_servers, [origin]);
  t.same(resource.scopes_supported, ['read']);
  t.equal((await ask('/.well-known/oauth-authorization-server')).json().issuer, origin);
});
