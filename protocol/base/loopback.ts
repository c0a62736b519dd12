/**
 * Whether a host name, without a port, is this machine: `localhost` and the names below it (RFC 6761, section 6.3),
 * 127.0.0.0/8, or `::1` with or without brackets.
 */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return /^(?:.+\.)?localhost$/.test(host) || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether what is sent to this address stays on this machine. */
export function isLoopback(address: string): boolean {
  return isLoopbackHost(new URL(address).hostname);
}
