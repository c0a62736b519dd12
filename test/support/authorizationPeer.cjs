// A tool server that wants a login, and its authorization server: the routes, the checks and the challenge are those of
// the SDK's first major, written by others. It lets everybody in. What it gives is kept here: refresh tokens are good
// for one use, and one that is used twice ends the login. It prints its address; `/stats` says what came, `/expire`
// ends all access tokens.
const { randomUUID } = require('node:crypto');
const express = require('express');
const { requireBearerAuth } = require('@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js');
const { mcpAuthRouter } = require('@modelcontextprotocol/sdk/server/auth/router.js');
const { InvalidGrantError, InvalidTokenError } = require('@modelcontextprotocol/sdk/server/auth/errors.js');

const [mode = 'refreshing'] = process.argv.slice(2);
const stats = { registrations: 0, refreshes: 0, reused: 0, revoked: 0, calls: 0, resources: [] };
const clients = new Map();
const codes = new Map();
const accessTokens = new Map();
const refreshTokens = new Map();

const provider = {
  clientsStore: {
    getClient: (id) => clients.get(id),
    registerClient(client) {
      stats.registrations += 1;
      clients.set(client.client_id, client);
      return client;
    },
  },
  async authorize(client, params, response) {
    const code = `code-${randomUUID()}`;
    codes.set(code, { client, params });
    const target = new URL(params.redirectUri);
    target.searchParams.set('code', code);
    if (params.state !== undefined) target.searchParams.set('state', params.state);
    response.redirect(target.href);
  },
  challengeForAuthorizationCode: async (_client, code) => codes.get(code).params.codeChallenge,
  async exchangeAuthorizationCode(_client, code) {
    const { params } = codes.get(code);
    codes.delete(code);
    stats.resources.push(String(params.resource));
    return issue({ scopes: params.scopes ?? [], isOver: false });
  },
  async exchangeRefreshToken(_client, token) {
    const known = refreshTokens.get(token);
    if (known?.isUsed) {
      stats.reused += 1;
      known.login.isOver = true;
    }
    if (!known || known.login.isOver) throw new InvalidGrantError('This refresh token is not good.');
    known.isUsed = true;
    stats.refreshes += 1;
    return issue(known.login);
  },
  async verifyAccessToken(token) {
    const known = accessTokens.get(token);
    if (!known || known.login.isOver) throw new InvalidTokenError('This token is not good.');
    return { token, clientId: 'any', scopes: known.login.scopes, expiresAt: Date.now() / 1000 + 60 };
  },
  async revokeToken(_client, { token }) {
    stats.revoked += 1;
    const known = refreshTokens.get(token) ?? accessTokens.get(token);
    if (known) known.login.isOver = true;
  },
};

function issue(login) {
  const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
  accessTokens.set(access, { login });
  if (mode === 'refreshing') refreshTokens.set(refresh, { login, isUsed: false });
  return {
    ...{ access_token: access, token_type: 'bearer', expires_in: 3_600, scope: login.scopes.join(' ') },
    ...(mode === 'refreshing' ? { refresh_token: refresh } : {}),
  };
}

const results = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'peer', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'from behind the login' }] },
};

const app = express();
const listening = app.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${listening.address().port}`;
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const options = { provider, issuerUrl: new URL(origin), resourceServerUrl: new URL(`${origin}/mcp`) };
  app.use(mcpAuthRouter({ ...options, scopesSupported: ['echo'] }));
  app.get('/stats', (_request, response) => response.json(stats));
  app.post('/expire', (_request, response) => {
    accessTokens.clear();
    response.end();
  });
  app.post(
    '/mcp',
    requireBearerAuth({ verifier: provider, resourceMetadataUrl }),
    express.json(),
    (request, response) => {
      const { id, method } = request.body;
      if (method === 'tools/call') stats.calls += 1;
      if (id === undefined) response.status(202).end();
      else response.json({ jsonrpc: '2.0', id, result: results[method] ?? {} });
    },
  );
  process.stdout.write(`${origin}\n`);
});
