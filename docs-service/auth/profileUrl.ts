import { isIP } from 'node:net';
import { isLoopbackHost } from '../../protocol/base/loopback.ts';
import { UsageError } from '../base/options.ts';

/** A profile URL from a flag, in the form in which profile URLs are compared. Throws UsageError. */
export function parseProfileUrl(flag: string, text: string): string {
  const url = tryProfileUrl(text);
  if (url !== undefined) return url;
  throw new UsageError(
    `--${flag} must be the address of the person's own page, such as https://example.org/, without a port, a user name or a fragment, not "${text}".`,
  );
}

/**
 * By the rules of IndieAuth, 3.2; undefined if it is not a profile URL. An address on this machine may have a port,
 * because the owner of a service that runs there has no other.
 */
export function tryProfileUrl(text: string): string | undefined {
  if (text.length > maxLength || !/^https?:\/\/[^\s\\#@]+$/i.test(text) || hasDotSegment(text))
    return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname.endsWith('.')) return undefined;
  if (isLoopbackHost(url.hostname)) return url.href;
  const isAddress = url.hostname.startsWith('[') || isIP(url.hostname) !== 0;
  return isAddress || url.port !== '' ? undefined : url.href;
}

/** In characters. */
const maxLength = 2_048;

/** Parsers silently remove such segments, so that two different texts would name one person. */
function hasDotSegment(text: string): boolean {
  const [path = ''] = text.split('?', 1);
  return path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
}
