import { resolve } from 'node:path';
import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import { type OptionSpecs, type OptionValues, UsageError } from '../base/options.ts';
import { parseProfileUrl } from './identifiers.ts';

export const authOptions = {
  auth: { value: 'MODE', help: 'who issues tokens: self, or remote for another server (default: self)' },
  issuer: { value: 'URL', help: 'remote: the server that clients sign in at' },
  introspection: { value: 'URL', help: 'remote: the endpoint where that server says what a token allows' },
  'introspection-token-file': { value: 'FILE', help: 'remote: the file with the token for that endpoint' },
  'allow-me': { multiple: true, value: 'URL', help: 'remote: the profile URL of a person who may read' },
} as const satisfies OptionSpecs;

/** Who decides what a token allows. Throws UsageError. */
export function parseAuthConfig(values: OptionValues<typeof authOptions>) {
  const { auth = 'self', issuer, introspection } = values;
  const { 'introspection-token-file': file, 'allow-me': allowed } = values;
  const given = remoteFlags.find((name) => isGiven(values[name]));
  if (auth === 'self' && given !== undefined)
    throw new UsageError(`--${given} is only for --auth remote. Add that, or leave the flag out.`);
  if (auth === 'self') return { mode: 'self' } as const;
  if (auth !== 'remote') throw new UsageError(`--auth must be self or remote, not "${auth}".`);
  if (issuer === undefined || introspection === undefined || file === undefined || allowed.length === 0)
    throw new UsageError(
      `--auth remote also needs --${remoteFlags.find((name) => !isGiven(values[name]))}. It takes --issuer URL, --introspection URL, --introspection-token-file FILE and at least one --allow-me URL.`,
    );
  return {
    mode: 'remote' as const,
    /** As the operator wrote it: clients compare it letter by letter. */
    issuer: parseIssuer(issuer),
    introspection: parseOperatorUrl('introspection', introspection),
    tokenFile: resolve(file),
    /** Profile URLs in the form in which they are compared. */
    allowed: allowed.map((me) => parseProfileUrl('allow-me', me)),
  };
}

const remoteFlags = ['issuer', 'introspection', 'introspection-token-file', 'allow-me'] as const;

function isGiven(value: string | readonly string[] | undefined): boolean {
  return value !== undefined && value.length > 0;
}

/** Clients look for its metadata below it, so it has no query and no fragment (RFC 8414, 2). */
function parseIssuer(text: string): string {
  parseOperatorUrl('issuer', text);
  if (!/[?#]/.test(text)) return text;
  throw new UsageError(`--issuer must not have a query or a fragment: "${text}".`);
}

/** The operator may name a private network, but tokens travel unencrypted only on this machine. */
function parseOperatorUrl(flag: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--${flag} must be an address such as https://auth.example.org/, not "${text}".`);
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new UsageError(`--${flag} must not have a user name, a password or a fragment.`);
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw new UsageError(`--${flag} must begin with https://, because tokens are sent to it: "${text}".`);
  return url;
}
