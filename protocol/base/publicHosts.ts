import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All IP addresses of a host name. */
export type LookUpAddresses = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks only the DNS, because the files and the search domains of this machine would let a stranger's name mean
 * something here. One kind of address is enough if the other lookup fails. Without `servers`, it asks the machine's
 * own.
 */
export function createDnsLookup(servers?: readonly string[]): LookUpAddresses {
  return async (hostname, signal) => {
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    signal.removeEventListener('abort', cancel);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/**
 * Whether all addresses are public, and there is one. One that is not is enough to refuse a host: whoever named it may
 * have more such answers ready.
 */
export function arePublic(addresses: readonly string[]): boolean {
  return addresses.length > 0 && addresses.every(isPublicAddress);
}

/**
 * Whether an IP address belongs to a machine on the public network and stands for itself: not this machine, not a
 * private or special network, and not an address that contains another one (v4-mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(ipaddr.IPv6.parseCIDR(globalUnicast));
}

/** The part of IPv6 that has been assigned to the public network so far. */
const globalUnicast = '2000::/3';

/** For a socket: it connects to the addresses that were checked, whatever the name leads to by now. */
export function fixedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_hostname, { all: wantsAll }, answer) => {
    const [first = { address: '', family: 4 }] = all;
    if (wantsAll) answer(null, all);
    else answer(null, first.address, first.family);
  };
}
