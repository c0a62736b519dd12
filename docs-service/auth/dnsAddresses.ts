import { Resolver } from 'node:dns/promises';

/** All IP addresses of a host name. */
export type LookUpAddresses = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks the DNS alone: the files and the search domains of this machine would let a stranger's name mean something
 * here. One kind of address is enough where the other cannot be had. Without `servers`, the machine's own are asked.
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
