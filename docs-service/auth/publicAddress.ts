import ipaddr from 'ipaddr.js';

/** All of IPv6 that has been given out for the public network so far. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an IP address belongs to a machine of the public network, and stands for itself: not this machine, no
 * private or special network, and no address that carries another one in it (v4-mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}
