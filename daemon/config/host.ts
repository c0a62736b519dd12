import { parseAddress } from '../../protocol/messages/address.ts';

/** The address of the environment. A wrong address in the environment is told and left out; it must not keep the daemon from starting. */
export function readHost(host: string | undefined): { readonly host?: string; readonly problem?: string } {
  try {
    return host === undefined || host.trim() === '' ? {} : { host: parseAddress(host) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `OLLAMA_HOST is left out: ${reason}. It counts as not set.` };
  }
}
