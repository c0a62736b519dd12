import { hostname, networkInterfaces } from 'node:os';
import { isLoopback } from '../../protocol/base/loopback.ts';

export interface ThisHost {
  /** Every address of this machine, as the operating system writes them. */
  readonly addresses: readonly string[];
  readonly hostname: string;
}

/** This is read each time, because addresses come and go with networks. */
export function readThisHost(): ThisHost {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return { addresses: addresses.map(({ address }) => address), hostname: hostname() };
}

/** Whether the runner at this address runs on this machine, so that its log can be read here. */
export function isThisHost(url: string, host: ThisHost): boolean {
  if (!URL.canParse(url)) return false;
  if (isLoopback(url)) return true;
  const asked = new URL(url).hostname.replace(/\.$/, '');
  return (
    host.addresses.some((address) => addressToHost(address) === asked) || isOwnName(asked, host.hostname)
  );
}

/** The address in the form of `URL`. A zone such as `%eth0` names an interface of this machine and is removed. */
function addressToHost(address: string): string | undefined {
  const bare = address.replace(/%.*$/, '');
  const url = `http://${bare.includes(':') ? `[${bare}]` : bare}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** The whole name, its first label, or that label in the local network's own domain (mDNS). */
function isOwnName(asked: string, hostname: string): boolean {
  const own = hostname.toLowerCase();
  const [label = ''] = own.split('.');
  return label !== '' && [own, label, `${label}.local`].includes(asked);
}
