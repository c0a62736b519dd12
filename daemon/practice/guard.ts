import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Whether a request is allowed. Refused are a host name that a web page made point at this machine, and a web page of
 * another origin. Programs send no origin.
 */
export function isAllowed({ host = '', origin }: IncomingHttpHeaders): boolean {
  return isOwnHost(hostOf(host)) && (origin === undefined || isOwnOrigin(origin));
}

const editorSchemes = /^(?:vscode-webview|vscode-file|app|file|tauri):\/\//;
const privateAddress =
  /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0$|::1?$|f[cd]|fe80:)/i;

function isOwnOrigin(origin: string): boolean {
  if (editorSchemes.test(origin)) return true;
  const host = hostOf(origin.replace(/^https?:\/\//, ''));
  return host === 'localhost' || privateAddress.test(host);
}

function isOwnHost(host: string): boolean {
  if (isIP(host) !== 0) return privateAddress.test(host);
  return (
    ['', 'localhost', hostname().toLowerCase()].includes(host) || /\.(?:localhost|local|internal)$/.test(host)
  );
}

/** The host without its port and without the brackets of IPv6. */
function hostOf(text: string): string {
  return (/^\[([^\]]*)\]|^[^:/]*/.exec(text)?.[1] ?? text.replace(/:\d+$/, '')).toLowerCase();
}
