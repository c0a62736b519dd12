import { join, resolve } from 'node:path';
import { isLoopbackHost } from '../protocol/base/loopback.ts';
import { dataHome } from '../protocol/base/platform/folders.ts';
import { authOptions, parseAuthConfig } from './auth/authConfig.ts';
import { type BaseUrl, parseBaseUrl } from './base/baseUrl.ts';
import type { LogLevel } from './base/log.ts';
import { type OptionSpecs, type OptionValues, parseNumber, UsageError } from './base/options.ts';
import type { ContentOptions } from './content/contentFolder.ts';
import { parseNetwork } from './http/trustedProxies.ts';
import type { EmbeddingsOptions } from './meaning/embeddings.ts';

/** Where the data is: every command that touches the library or the tokens takes these. */
export const placeOptions = {
  content: { value: 'DIR', help: 'the Markdown files and collections/ (default: ./content)' },
  data: { value: 'DIR', help: 'the index and the tokens (default: ~/.local/share/runner-docs)' },
  database: { value: 'URL', help: 'postgres://… keeps both in PostgreSQL (default: SQLite in --data)' },
  docs: {
    value: 'PATH',
    help: 'only what is below this path of the content folder is a document; the rest may be shown and included',
  },
  files: {
    multiple: true,
    value: 'DIR',
    help: 'a further folder whose files documents may show and include',
  },
  'link-root': {
    value: 'PATH',
    help: 'the path in front of links such as /handbook/intro, for which the content folder stands',
  },
  future: { help: 'documents with a date in the future are served too' },
} as const satisfies OptionSpecs;

const { data, database } = placeOptions;

/** For a command that reads no documents. */
export const storeOptions = { data, database };

export const embeddingsOptions = {
  embeddings: {
    value: 'URL',
    help: 'a runner of yours that embeds texts, so that documents are found by meaning too',
  },
  'embeddings-model': { value: 'NAME', help: 'its model, such as nomic-embed-text' },
  'embeddings-token-file': { value: 'FILE', help: 'the file with a token for that runner' },
} as const satisfies OptionSpecs;

/** What "serve" and "mcp" both take. */
export const libraryOptions = {
  ...placeOptions,
  ...embeddingsOptions,
  'render-seconds': {
    value: 'SECONDS',
    help: 'processor time for a PDF or a book; Markdown and HTML get a sixth (default: 30)',
  },
} as const satisfies OptionSpecs;

export const serveOptions = {
  ...placeOptions,
  host: { value: 'ADDRESS', help: 'the address to listen on (default: 127.0.0.1)' },
  port: { value: 'N', help: 'the port to listen on (default: 4000)' },
  'base-url': { value: 'URL', help: 'the address that readers use (default: http://HOST:PORT)' },
  title: { value: 'TEXT', help: 'the name of the library on its pages (default: runner-docs)' },
  logo: { value: 'FILE', help: 'a PNG or SVG beside that name' },
  'edit-url': {
    value: 'URL',
    help: 'where a document is edited, with {path} for its path: a link "Edit this page"',
  },
  container: { help: "only a container's port mapping reaches --host 0.0.0.0" },
  'trust-proxy': { multiple: true, value: 'CIDR', help: 'a proxy whose X-Forwarded-For is trusted' },
  'cors-origin': { multiple: true, value: 'URL', help: 'an origin whose pages may read from a browser' },
  'limit-requests': { value: 'N', help: 'requests a minute for a token (default: 300)' },
  'limit-renders': { value: 'N', help: 'PDFs and EPUBs a minute for a token (default: 30)' },
  'limit-auth-failures': {
    value: 'N',
    help: 'wrong tokens or passwords a minute from an address (default: 10)',
  },
  ...authOptions,
  'no-registration': { help: 'clients cannot register themselves; "client add" adds one' },
  'connector-tools': {
    help: 'MCP also has the tools "search" and "fetch", as ChatGPT\'s connectors want them',
  },
  ...libraryOptions,
  fonts: { multiple: true, value: 'DIR', help: 'a folder with fonts for more scripts' },
  rescan: { value: 'SECONDS', help: 'how often the whole folder is scanned (default: 60)' },
  'metrics-port': { value: 'N', help: 'serve Prometheus metrics on this port of 127.0.0.1' },
  'log-level': { value: 'LEVEL', help: 'debug, info, warn or error (default: info)' },
  sample: { help: "serve this project's own pages, with a token for 12 hours" },
} as const satisfies OptionSpecs;

export interface Limits {
  /** A minute, for a token. */
  readonly requests: number;
  readonly renders: number;
  /** A minute, for an address. */
  readonly authFailures: number;
}

export type ServeConfig = Readonly<ReturnType<typeof parseServeConfig>>;

export type LibraryConfig = Readonly<ReturnType<typeof parseLibrary>>;

/** Where the index and the tokens are. */
export interface StorePlaces {
  readonly data: string;
  /** The address of a PostgreSQL database; undefined for SQLite. */
  readonly database: string | undefined;
}

export interface LibrarySources extends StorePlaces, ContentOptions {
  readonly content: string;
  /** Whether documents with a date in the future are served. */
  readonly future?: boolean;
}

/** For a command that reads no documents. Throws UsageError. */
export function parseStorePlaces(
  { data, database }: OptionValues<typeof storeOptions>,
  env: Readonly<Record<string, string | undefined>>,
): StorePlaces {
  if (database !== undefined && !/^postgres(ql)?:\/\//.test(database))
    throw new UsageError('--database must begin with postgres:// (leave it out for SQLite).');
  return { data: resolve(data ?? join(dataHome(env), 'runner-docs')), database };
}

/** Throws UsageError. */
export function parsePlaces(
  values: OptionValues<typeof placeOptions>,
  env: Readonly<Record<string, string | undefined>>,
): LibrarySources {
  return {
    ...parseStorePlaces(values, env),
    content: resolve(values.content ?? 'content'),
    future: values.future,
    docs: values.docs,
    files: values.files.map((folder) => resolve(folder)),
    linkRoot: values['link-root'] && parseLinkRoot(values['link-root']),
  };
}

/** Throws UsageError. */
export function parseLibrary(
  values: OptionValues<typeof libraryOptions>,
  env: Readonly<Record<string, string | undefined>>,
) {
  return {
    ...parsePlaces(values, env),
    embeddings: parseEmbeddings(values),
    /** Of processor time, for a PDF or a book. */
    renderSeconds: parseNumber('render-seconds', values['render-seconds'], 1, 3_600) ?? 30,
  };
}

/** Throws UsageError. */
export function parseServeConfig(
  values: OptionValues<typeof serveOptions>,
  env: Readonly<Record<string, string | undefined>>,
) {
  const host = values.host ?? '127.0.0.1';
  const baseUrl = values['base-url'] === undefined ? undefined : parseBaseUrl(values['base-url']);
  checkHost(host, { isOpen: values.container, baseUrl });
  const perMinute = (flag: 'limit-requests' | 'limit-renders' | 'limit-auth-failures', usual: number) =>
    parseNumber(flag, values[flag], 1, 1_000_000) ?? usual;
  return {
    ...parseLibrary(values, env),
    host,
    port: parseNumber('port', values.port, 0, 65_535) ?? 4_000,
    /** Undefined if it follows from the host and the port. */
    baseUrl,
    title: values.title === undefined ? undefined : parseTitle(values.title),
    logo: values.logo === undefined ? undefined : resolve(values.logo),
    editAddress: values['edit-url'] === undefined ? undefined : parseEditAddress(values['edit-url']),
    trustProxy: values['trust-proxy'].map(parseNetwork),
    corsOrigins: values['cors-origin'].map(parseOrigin),
    limits: {
      requests: perMinute('limit-requests', 300),
      renders: perMinute('limit-renders', 30),
      authFailures: perMinute('limit-auth-failures', 10),
    } satisfies Limits,
    auth: parseAuthConfig(values),
    takesRegistrations: !values['no-registration'],
    hasConnectorTools: values['connector-tools'],
    fonts: values.fonts.map((folder) => resolve(folder)),
    /** In seconds. */
    rescan: parseNumber('rescan', values.rescan, 1, 86_400) ?? 60,
    metricsPort: parseNumber('metrics-port', values['metrics-port'], 0, 65_535),
    logLevel: parseLogLevel(values['log-level'] ?? 'info'),
  };
}

/** With a loopback address, the service trusts that only this machine reaches it. */
function checkHost(
  host: string,
  { isOpen, baseUrl }: { isOpen: boolean; baseUrl: BaseUrl | undefined },
): void {
  if (isLoopbackHost(host) || isOpen) return;
  if (baseUrl === undefined || baseUrl.isLoopback)
    throw new UsageError(
      `--host ${host} can be reached from other machines. Add --base-url https://… for the address that they use, or --container if only a container's port mapping reaches it.`,
    );
}

const maxTitle = 100;

function parseTitle(text: string): string {
  const title = text.trim();
  if (title !== '' && title.length <= maxTitle && !/\p{Cc}/u.test(title)) return title;
  throw new UsageError(`--title must be one line of at most ${maxTitle} characters.`);
}

function parseLinkRoot(text: string): string {
  if (/^\/?[^\s:?#\\]{1,500}$/.test(text)) return text;
  throw new UsageError('--link-root is a path, such as /handbook, and no whole address.');
}

function parseEditAddress(text: string): string {
  const { protocol = '' } = URL.canParse(text) ? new URL(text) : {};
  if (/^https?:$/.test(protocol) && text.includes('{path}')) return text;
  throw new UsageError(
    `--edit-url must be an address with {path} in it, such as https://git.example.org/docs/edit/main/{path}, not "${text}".`,
  );
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/' && !/[?#]/.test(text))
    return url.origin;
  throw new UsageError(
    `--cors-origin must be an address without a path, such as https://app.example.org, not "${text}".`,
  );
}

function parseLogLevel(text: string): LogLevel {
  if (text === 'debug' || text === 'info' || text === 'warn' || text === 'error') return text;
  throw new UsageError(`--log-level must be debug, info, warn or error, not "${text}".`);
}

/** Undefined without the flag: then nothing is embedded. Throws UsageError. */
export function parseEmbeddings(
  values: OptionValues<typeof embeddingsOptions>,
): EmbeddingsOptions | undefined {
  const { embeddings: url, 'embeddings-model': model, 'embeddings-token-file': tokenFile } = values;
  if (url === undefined) {
    const other = model === undefined ? (tokenFile === undefined ? undefined : 'token-file') : 'model';
    if (other === undefined) return undefined;
    throw new UsageError(`--embeddings-${other} needs --embeddings URL, the address of a runner.`);
  }
  if (model === undefined || model.trim() === '')
    throw new UsageError('--embeddings needs --embeddings-model NAME, such as nomic-embed-text.');
  return {
    url: parseRunner(url),
    model,
    tokenFile: tokenFile === undefined ? undefined : resolve(tokenFile),
  };
}

function parseRunner(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/';
  if (isOrigin && !/[?#]/.test(text) && url.username === '' && url.password === '') return url.origin;
  throw new UsageError(
    '--embeddings must be the address of a runner without a path, such as http://127.0.0.1:11434.',
  );
}
