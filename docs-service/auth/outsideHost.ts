import { isIP } from 'node:net';

/**
 * Why nothing is fetched from an address, whatever its name leads to; undefined where that must be looked up. The
 * parser of addresses has turned every other way to write an IP address into the usual one.
 */
export function outsideHostProblem({
  protocol,
  hostname,
  port,
  username,
  password,
}: URL): string | undefined {
  if (protocol !== 'https:') return 'Documents are fetched from addresses that begin with https:// alone.';
  if (username !== '' || password !== '') return 'An address with a user name or a password is not fetched.';
  if (hostname.startsWith('[') || isIP(hostname) !== 0)
    return 'Documents are fetched from hosts with a name, and not from IP addresses.';
  if (!isPublicName(hostname))
    return `${hostname} is no name of the public network, so nothing is fetched from it.`;
  // Below 1024 are the well-known ports of other protocols, which must not be talked to in the name of this service.
  if (port !== '' && Number(port) < 1_024) return `Documents are not fetched from port ${port}.`;
  return undefined;
}

/** Names of one label, and those below these, mean something in the own network alone (RFC 6761, RFC 6762, RFC 8375). */
function isPublicName(hostname: string): boolean {
  const labels = hostname.split('.');
  const isWhole = labels.length > 1 && labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  return isWhole && !/\.(localhost|local|internal|home\.arpa|onion|invalid)$/.test(hostname);
}
