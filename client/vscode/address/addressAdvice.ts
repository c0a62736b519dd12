import { isLoopback } from '../../../protocol/base/loopback.ts';
import { parseAddress } from '../../../protocol/messages/address.ts';

/** What is said of an address while it is typed. */
export type AddressAdvice =
  | { readonly kind: 'wrong'; readonly message: string }
  /** `url` is where requests would go; the message, if there is one, is good to know. */
  | { readonly kind: 'good'; readonly url: string; readonly message?: string };

/** `environment` is the value of `OLLAMA_HOST`, which counts where nothing is typed. */
export function adviseOnAddress(text: string, environment: string | undefined): AddressAdvice {
  const trimmed = text.trim();
  try {
    const url = parseAddress(trimmed === '' ? (environment ?? '') : trimmed);
    const message = remarkOn(trimmed, url, environment);
    return { kind: 'good', url, ...(message === undefined ? {} : { message }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'wrong', message: `This is no address: ${reason}.` };
  }
}

function remarkOn(text: string, url: string, environment: string | undefined): string | undefined {
  if (text === '')
    return environment ? `Empty: ${url}, as OLLAMA_HOST says.` : `Empty: ${url}, the usual address.`;
  if (/^(https?:\/\/)?[^/]*@/i.test(text))
    return `Requests go to ${url}. A user and a password in an address are never sent: set a token instead.`;
  if (url.startsWith('http:') && !isLoopback(url))
    return `Requests go to ${url}. Without https, others in the network can read what is sent.`;
  return url === text.replace(/\/+$/, '') ? undefined : `Requests go to ${url}.`;
}
