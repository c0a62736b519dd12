import { BlockList, isIP } from 'node:net';
import { UsageError } from '../base/options.ts';

/** The names that the library for X-Forwarded-For has for networks, and what they stand for. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** A network in the form that the library for X-Forwarded-For accepts. Throws UsageError. */
export function parseNetwork(text: string): string {
  if (Object.hasOwn(named, text)) return text;
  const [address = '', bits] = text.split('/', 2);
  const most = isIP(address) === 4 ? 32 : 128;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  if (isIP(address) !== 0 && isNetwork) return text;
  throw new UsageError(`--trust-proxy must be an address or a network such as 10.0.0.0/8, not "${text}".`);
}

/** Says whether a connection from an address comes from a trusted proxy. */
export function createProxyCheck(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks.flatMap((text) => named[text] ?? [text])) {
    const [address = '', bits] = network.split('/', 2);
    list.addSubnet(address, Number(bits ?? (isIP(address) === 4 ? 32 : 128)), familyOf(address));
  }
  // An IPv4 address that is written as IPv6 counts as itself.
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
