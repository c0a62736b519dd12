import { Resolver } from 'node:dns/promises';

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
