import { withTimeLimit } from '../../protocol/base/abort.ts';
import { readBounded, TooLargeError } from '../../protocol/base/byteStreams.ts';
import { formatBytes } from '../../protocol/base/text.ts';
import type { FoundFile } from '../../protocol/messages/files.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { usualTokens } from '../chat/turnWindow.ts';
import { textOfHtml } from './htmlText.ts';

/** In bytes, once it is unpacked. */
const maxPage = 2 * 1024 * 1024;
/** In ms, for all of it. */
const maxTime = 15_000;
const maxRedirects = 5;

/**
 * The text of a page that the user named and agreed to. No header of Runner's, no cookie and no secret is sent, and a
 * redirect to another origin is refused: the user agreed to this one.
 * @throws {RunnerError} if there is no text within the bounds.
 * @throws {InvalidParamsError} if it is no address that may be fetched.
 */
export async function fetchPage(address: string, signal: AbortSignal): Promise<FoundFile> {
  const url = parsePageAddress(address);
  const reason = new RunnerError(
    'timeout',
    `${url.host} did not send the page within ${maxTime / 1_000} seconds.`,
  );
  return withTimeLimit({ limit: maxTime, reason, signal }, (inTime) => read(url, inTime));
}

function parsePageAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidParamsError('url', 'it is no address that begins with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new InvalidParamsError('url', 'it has a user name or a password, which are not sent');
  return url;
}

async function read(url: URL, signal: AbortSignal): Promise<FoundFile> {
  const response = await open(url, signal);
  const type = response.headers.get('content-type') ?? '';
  if (!isText(type)) {
    await response.body?.cancel();
    throw refused(url, `is ${type.slice(0, 100)}, which is no text`);
  }
  const bytes = await readWhole(url, response, signal);
  const raw = decode(bytes, type);
  if (raw.includes('\0')) throw refused(url, 'is no text');
  const text = /html/i.test(type) ? await readHtml(url, raw, signal) : raw;
  const tokens = usualTokens({ characters: text.length, images: 0 });
  return {
    path: url.href,
    bytes: bytes.length,
    tokens,
    attachment: { path: url.href, text, uris: [url.href] },
  };
}

function readHtml(url: URL, html: string, signal: AbortSignal): Promise<string> {
  return textOfHtml(html, signal).catch((cause) => {
    throw cause instanceof TooLargeError ? refused(url, 'nests its elements too deeply', cause) : cause;
  });
}

async function readWhole(url: URL, { body }: Response, signal: AbortSignal): Promise<Buffer> {
  try {
    return body ? await readBounded(body, maxPage) : Buffer.alloc(0);
  } catch (cause) {
    signal.throwIfAborted();
    throw refused(
      url,
      cause instanceof TooLargeError ? `has more than ${formatBytes(maxPage)}` : 'broke off',
      cause,
    );
  }
}

/** Follows redirects within the origin. */
async function open(url: URL, signal: AbortSignal): Promise<Response> {
  let at = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await fetch(at, { redirect: 'manual', credentials: 'omit', signal }).catch((cause) => {
      signal.throwIfAborted();
      throw new RunnerError(
        'server-unreachable',
        `${url.host} cannot be reached. Check the address and the network.`,
        {
          cause,
        },
      );
    });
    if (response.ok) return response;
    await response.body?.cancel();
    const { status } = response;
    const location = response.headers.get('location');
    if (status < 300 || status > 399 || location === null || !URL.canParse(location, at))
      throw refused(url, `cannot be read: ${url.host} answered ${status}`);
    const next = new URL(location, at);
    if (next.origin !== url.origin)
      throw refused(
        url,
        `leads to another site, ${next.href.slice(0, 500)}. Name that address if you want it`,
      );
    at = next;
  }
  throw refused(url, `leads from one address to the next more than ${maxRedirects} times`);
}

function refused(url: URL, why: string, cause?: unknown): RunnerError {
  return new RunnerError('bad-response', `${url.href} ${why}.`, { cause });
}

function isText(type: string): boolean {
  return (
    type === '' ||
    /^\s*(text\/|application\/(\S*[+/.-])?(json|xml|xhtml\+xml|javascript|yaml|toml)\b)/i.test(type)
  );
}

/** As HTML and the Encoding standard say: by the mark at its beginning, then the header, then the page itself. */
function decode(bytes: Buffer, type: string): string {
  const start = bytes.toString('latin1', 0, maxPrescan);
  const labels = [
    marks.find(([mark]) => start.startsWith(mark))?.[1],
    /charset="?([\w.:-]{1,40})/i.exec(type)?.[1],
    // A page whose tag can be read as it stands is not UTF-16, whatever the tag says.
    /xml|html/i.test(type)
      ? /<(?:meta|\?xml)\b[^>]*?\b(?:charset|encoding)\s*=\s*["']?\s*(?!utf-16)([\w.:-]{1,40})/i.exec(
          start,
        )?.[1]
      : undefined,
  ];
  for (const label of labels)
    try {
      if (label !== undefined) return new TextDecoder(label).decode(bytes);
    } catch {
      // No such character set is known: the next label counts.
    }
  return new TextDecoder().decode(bytes);
}

const marks = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
] as const;
/** Where a page must say its character set, in bytes. */
const maxPrescan = 1024;
