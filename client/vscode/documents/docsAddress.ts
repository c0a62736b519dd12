import { isLoopback } from '../../../protocol/base/loopback.ts';

/** The address in `runner.docsUrl`. */
export type DocsAddress =
  | { readonly kind: 'none' }
  | { readonly kind: 'wrong'; readonly message: string }
  /** The origin has no slash at its end: `https://docs.example.org`. */
  | { readonly kind: 'set'; readonly origin: string };

/** Reads the setting: the service's own address, with or without a slash or `/mcp` at its end. */
export function toDocsAddress(text: string): DocsAddress {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'none' };
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return wrong(trimmed, usualForm);
  if (url.username !== '' || url.password !== '')
    return { kind: 'wrong', message: `runner.docsUrl must not contain a user or a password. ${tokenAdvice}` };
  const isOpen = url.protocol === 'http:' && !isLoopback(url.origin);
  if (!/^\/(mcp\/?)?$/.test(url.pathname) || /[?#]/.test(trimmed))
    return wrong(trimmed, `${isOpen ? `https://${url.host}` : url.origin}, without a path`);
  if (isOpen)
    return {
      kind: 'wrong',
      message: `runner.docsUrl must begin with https:// unless the service runs on this machine. Without https, anybody on the way could read the documents and the token. Set https://${url.host}, if the service answers there.`,
    };
  return { kind: 'set', origin: url.origin };
}

const usualForm = 'http://127.0.0.1:4000';
const tokenAdvice = 'Use the command "Runner: Set Documents Token" instead.';

function wrong(text: string, example: string): DocsAddress {
  return {
    kind: 'wrong',
    message: `runner.docsUrl must be an address such as ${example}, not "${text}".`,
  };
}
