import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisPlatform } from '../../protocol/base/platform/folders.ts';
import { createToken } from '../auth/accessTokens.ts';
import { hashPassword } from '../auth/passwords.ts';
import { type OptionValues, UsageError } from '../base/options.ts';
import { defineCommand, type ProgramContext } from '../cli/command.ts';
import { libraryOptions, parseLibrary, parseServeConfig, serveOptions } from '../serveConfig.ts';
import { openAccess } from '../stores.ts';

export const serveCommand = defineCommand({
  usage: 'serve',
  summary: 'Serves the library until it is stopped. This is what runner-docs does without a command.',
  words: 0,
  options: serveOptions,
  async run({ values }, context) {
    if (values.sample) return serveSample(values, context);
    const { startService } = await import('../service.ts');
    const service = await startService(parseServeConfig(values, context.env), context);
    context.note(`The documents are at ${service.baseUrl.href}/api/v1/docs\n`);
    await untilEnd(context);
    await service.close();
    return 0;
  },
});

export const mcpCommand = defineCommand({
  usage: 'mcp',
  summary:
    'Serves the library to one agent over MCP, on standard input and output, without drafts. It needs neither a token nor "serve".',
  words: 0,
  options: libraryOptions,
  async run({ values }, context) {
    const { serveStdio } = await import('../stdioService.ts');
    await serveStdio(parseLibrary(values, context.env), context);
    return 0;
  },
});

/** Milliseconds: twelve hours. */
const lifetime = 12 * 3_600_000;

/** Serves this project's own pages. Its data folder is deleted when the service ends. */
async function serveSample(
  values: OptionValues<typeof serveOptions>,
  context: ProgramContext,
): Promise<number> {
  const data = await mkdtemp(join(tmpdir(), 'runner-docs-'));
  try {
    const config = parseServeConfig(
      { ...values, title: values.title ?? 'Runner', content: context.sample, data, database: undefined },
      context.env,
    );
    if (config.auth.mode !== 'self')
      throw new UsageError('--sample has a token of its own: leave --auth remote out.');
    const { startService } = await import('../service.ts');
    const service = await startService(config, context);
    const token = createToken({ scopes: ['read'], lifetime, now: context.now() });
    const password = randomBytes(9).toString('base64url');
    const access = await openAccess(config);
    await access.tokens.add(token);
    await access.owners.setPassword({ password: await hashPassword(password) });
    await access.close();
    await service.whole;
    context.print(invitation(service.baseUrl.href, token.token, password));
    await untilEnd(context);
    await service.close();
    return 0;
  } finally {
    // Windows keeps files that are open, as they may be if starting failed, and that is the reason to report.
    await rm(data, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

function invitation(address: string, token: string, password: string): string {
  // No variable has the same form in both shells of Windows, and in the older one `curl` is another program.
  const [program, setting, bearer] =
    thisPlatform === 'win32' ? ['curl.exe', '', token] : ['curl', `  TOKEN=${token}\n\n`, '$TOKEN'];
  const curl = `${program} -H "Authorization: Bearer ${bearer}"`;
  return `
Runner's own pages are served at ${address} until you press Ctrl-C.

In a browser: ${address}/read with the password ${password}

In another terminal:

${setting}  ${curl} ${address}/api/v1/docs
  ${curl} "${address}/api/v1/docs?q=modelfile"
  ${curl} -O ${address}/api/v1/docs/chat.pdf
  ${curl} -O ${address}/api/v1/collections/handbook.epub

The token is good for 12 hours. Agents sign in at ${address}/mcp by themselves.
`;
}

/** Resolves when the program is asked to end. */
async function untilEnd({ ending }: Pick<ProgramContext, 'ending'>): Promise<void> {
  if (!ending.aborted) await once(ending, 'abort');
}
