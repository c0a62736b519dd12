import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToken } from '../auth/accessToken.ts';
import { hashPassword } from '../auth/passwords.ts';
import type { OptionValues } from '../base/options.ts';
import { UsageError } from '../base/usageError.ts';
import type { Surroundings } from '../cli/surroundings.ts';
import { parseServeConfig, type serveOptions } from '../serveConfig.ts';
import { openAccess } from '../stores.ts';
import { untilEnd } from './untilEnd.ts';

/** Milliseconds: twelve hours. */
const lifetime = 12 * 3_600_000;

/** Serves this project's own pages. Its data folder is deleted when the service ends. */
export async function serveSample(
  values: OptionValues<typeof serveOptions>,
  surroundings: Surroundings,
): Promise<number> {
  const data = await mkdtemp(join(tmpdir(), 'runner-docs-'));
  try {
    const config = parseServeConfig(
      { ...values, content: surroundings.sample, data, database: undefined },
      surroundings.env,
    );
    if (config.auth.mode !== 'self')
      throw new UsageError('--sample has a token of its own: leave --auth remote out.');
    const { startService } = await import('../service.ts');
    const service = await startService(config, surroundings);
    const token = createToken({ scopes: ['read'], lifetime, now: surroundings.now() });
    const password = randomBytes(9).toString('base64url');
    const access = await openAccess(config);
    await access.tokens.add(token);
    await access.owners.setPassword({ password: await hashPassword(password) });
    await access.close();
    await service.whole;
    surroundings.print(invitation(service.baseUrl.origin, { token: token.token, password }));
    await untilEnd(surroundings);
    await service.close();
    return 0;
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

function invitation(
  origin: string,
  { token, password }: { readonly token: string; readonly password: string },
): string {
  const curl = 'curl -H "Authorization: Bearer $TOKEN"';
  return `
Runner's own pages are served at ${origin} until you press Ctrl-C.

In a browser: ${origin}/read with the password ${password}

In another terminal:

  TOKEN=${token}

  ${curl} ${origin}/api/v1/docs
  ${curl} "${origin}/api/v1/docs?q=modelfile"
  ${curl} -O ${origin}/api/v1/docs/chat.pdf
  ${curl} -O ${origin}/api/v1/collections/handbook.epub

The token is good for 12 hours. Agents sign in at ${origin}/mcp by themselves.
`;
}
