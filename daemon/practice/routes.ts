import { chat } from './chat.ts';
import { blobExists, create, uploadBlob } from './create.ts';
import { embed, embedOld } from './embed.ts';
import { answerJson, answerText, type Exchange, type Route } from './exchange.ts';
import { generate } from './generate.ts';
import { copyModel, deleteModel, listModels, listRunning, stopModel } from './models.ts';
import { libraryPage, me, recommendations, signOut } from './ollamaCom.ts';
import { pull } from './pull.ts';
import { show } from './show.ts';

interface Entry {
  readonly methods: readonly string[];
  readonly path: string;
  readonly route: Route;
  /** The path ends with a variable part: a digest or a name. */
  readonly open?: boolean;
}

const entries: readonly Entry[] = [
  { methods: ['GET', 'HEAD'], path: '/', route: root },
  { methods: ['GET', 'HEAD'], path: '/api/version', route: version },
  { methods: ['GET'], path: '/api/status', route: status },
  { methods: ['GET', 'HEAD'], path: '/api/tags', route: listModels },
  { methods: ['GET'], path: '/api/ps', route: listRunning },
  { methods: ['POST'], path: '/api/show', route: show },
  { methods: ['POST'], path: '/api/generate', route: generate },
  { methods: ['POST'], path: '/api/chat', route: chat },
  { methods: ['POST'], path: '/api/embed', route: embed },
  { methods: ['POST'], path: '/api/embeddings', route: embedOld },
  { methods: ['POST'], path: '/api/pull', route: pull },
  { methods: ['POST'], path: '/api/create', route: create },
  { methods: ['POST'], path: '/api/copy', route: copyModel },
  { methods: ['DELETE'], path: '/api/delete', route: deleteModel },
  { methods: ['HEAD'], path: '/api/blobs/', route: blobExists, open: true },
  { methods: ['POST'], path: '/api/blobs/', route: uploadBlob, open: true },
  { methods: ['POST'], path: '/api/me', route: me },
  { methods: ['POST'], path: '/api/signout', route: signOut },
  { methods: ['GET'], path: '/api/experimental/model-recommendations', route: recommendations },
  { methods: ['GET', 'HEAD'], path: '/library', route: libraryPage },
  { methods: ['GET', 'HEAD'], path: '/library/', route: libraryPage, open: true },
  { methods: ['GET', 'HEAD'], path: '/search', route: libraryPage },
];

/** A route that only some runners have. The specification has it, but a real runner does not. */
const stopEntry: Entry = { methods: ['DELETE'], path: '/api/ps/', route: stopModel, open: true };

export interface Found {
  readonly route: Route;
  readonly tail: string;
}

/** The route of a request. An unknown path gets the text of a real runner's router. */
export function findRoute(method: string, path: string, options: { readonly stopRoute: boolean }): Found {
  const known = options.stopRoute ? [...entries, stopEntry] : entries;
  const here = known.filter((entry) => fits(entry, path));
  const entry = here.find(({ methods }) => methods.includes(method));
  if (entry) return { route: entry.route, tail: entry.open ? decode(path.slice(entry.path.length)) : '' };
  const allow = here.flatMap(({ methods }) => methods);
  if (allow.length > 0) return { route: wrongMethod(allow), tail: '' };
  const shorter = path.replace(/\/$/, '');
  const redirect = known.some((entry) => fits(entry, shorter) && entry.methods.includes(method));
  return { route: redirect ? redirectTo(shorter) : unknownRoute, tail: '' };
}

export function isBlobUpload(method: string, path: string): boolean {
  return method === 'POST' && path.startsWith('/api/blobs/');
}

function fits(entry: Entry, path: string): boolean {
  if (!entry.open) return path === entry.path;
  return path.startsWith(entry.path) && path.length > entry.path.length;
}

function decode(tail: string): string {
  try {
    return decodeURIComponent(tail);
  } catch {
    return tail;
  }
}

function root({ response }: Exchange): void {
  answerText(response, 'Ollama is running', { contentType: 'text/plain; charset=utf-8' });
}

function version({ response, runner }: Exchange): void {
  answerJson(response, { version: runner.version });
}

function status({ response }: Exchange): void {
  answerJson(response, { cloud: { disabled: false, source: 'none' } });
}

function unknownRoute({ response }: Exchange): void {
  answerText(response, '404 page not found', { status: 404 });
}

function wrongMethod(allow: readonly string[]): Route {
  return ({ response }) => {
    response.setHeader('allow', allow.join(', '));
    answerText(response, '405 method not allowed', { status: 405 });
  };
}

function redirectTo(location: string): Route {
  return ({ response, request }) => {
    response.setHeader('location', location);
    if (request.method !== 'GET') {
      response.writeHead(307);
      response.end();
      return;
    }
    const page = `<a href="${location}">Moved Permanently</a>.\n\n`;
    answerText(response, page, { status: 301, contentType: 'text/html; charset=utf-8' });
  };
}
