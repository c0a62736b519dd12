import { isIP } from 'node:net';

/**
 * Why nothing is fetched from an address, whatever its name resolves to; undefined if the name must be looked up first.
 * The URL parser has already turned every other spelling of an IP address into the usual one.
 */
export function outsideHostProblem({
  protocol,
  hostname,
  port,
  username,
  password,
}: URL): string | undefined {
  if (protocol !== 'https:') return 'Documents are only fetched from addresses that begin with https://.';
  if (username !== '' || password !== '') return 'An address with a user name or a password is not fetched.';
  if (hostname.startsWith('[') || isIP(hostname) !== 0)
    return 'Documents are only fetched from hosts with a name, not from IP addresses.';
  if (!isPublicName(hostname))
    return `${hostname} is not a name on the public network, so nothing is fetched from it.`;
  // Ports below 1024 belong to other protocols; this service must not send requests to them for a stranger.
  if (port !== '' && Number(port) < 1_024) return `Documents are not fetched from port ${port}.`;
  return undefined;
}

/** Names of one label, and names below these, are only valid in the local network (RFC 6761, RFC 6762, RFC 8375). */
function isPublicName(hostname: string): boolean {
  const labels = hostname.split('.');
  const isWhole = labels.length > 1 && labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  return isWhole && !/\.(localhost|local|internal|home\.arpa|onion|invalid)$/.test(hostname);
}
