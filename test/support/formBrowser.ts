import { scryptSync } from 'node:crypto';
import { Parser } from 'htmlparser2';

/** What a server has answered to a browser. */
export interface BrowserPage {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | number | undefined>>;
  readonly body: string;
}

export interface BrowserRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly payload?: string;
}

interface Form {
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/**
 * As much of a browser as a form without scripts needs: it keeps cookies, follows redirects on its own origin, and
 * posts the first form of a page with what is filled in there.
 */
export class FormBrowser {
  readonly #origin: string;
  readonly #ask: (request: BrowserRequest) => Promise<Omit<BrowserPage, 'url'>>;
  readonly #cookies = new Map<string, string>();
  readonly #attributes = new Map<string, string>();
  #page: BrowserPage | undefined;

  constructor(origin: string, ask: (request: BrowserRequest) => Promise<Omit<BrowserPage, 'url'>>) {
    this.#origin = origin;
    this.#ask = ask;
  }

  get page(): BrowserPage {
    if (this.#page === undefined) throw new Error('no page was opened');
    return this.#page;
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  /** How long a cookie lasts and who may read it, as it was set last. */
  attributesOf(cookie: string): string | undefined {
    return this.#attributes.get(cookie);
  }

  open(url: string): Promise<BrowserPage> {
    return this.#go({ method: 'GET', url, headers: {} });
  }

  /** Ticked boxes and hidden fields go along; what is given counts before them. */
  submit(
    given: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<BrowserPage> {
    const form = tryFindForm(this.page.body);
    if (form === undefined) throw new Error(`there is no form at ${this.page.url}: ${this.page.body}`);
    const own = form.fields.filter(([name]) => !(name in given));
    const payload = new URLSearchParams([
      ...own.map(([name, value]) => [name, value]),
      ...Object.entries(given),
    ]);
    return this.#go({
      method: 'POST',
      url: new URL(form.action, new URL(this.page.url, this.#origin)).href,
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: this.#origin, ...headers },
      payload: payload.toString(),
    });
  }

  async #go(request: BrowserRequest, depth = 0): Promise<BrowserPage> {
    const { host } = new URL(request.url, this.#origin);
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { host, ...(cookie === '' ? {} : { cookie }), ...request.headers };
    const answer = await this.#ask({ ...request, headers });
    this.#keep(answer.headers['set-cookie']);
    this.#page = { ...answer, url: request.url };
    const { location } = answer.headers;
    if (typeof location !== 'string' || depth > 5) return this.#page;
    const target = new URL(location, new URL(request.url, this.#origin));
    if (target.origin !== this.#origin) return this.#page;
    return this.#go({ method: 'GET', url: target.href, headers: {} }, depth + 1);
  }

  #keep(header: string | readonly string[] | number | undefined): void {
    for (const line of [header ?? []].flat()) {
      const [pair = '', ...attributes] = String(line).split('; ');
      const at = pair.indexOf('=');
      this.#attributes.set(pair.slice(0, at), attributes.join('; '));
      const isGone = attributes.some((attribute) => /^max-age=0$|^expires=thu, 01 jan 1970/i.test(attribute));
      if (isGone) this.#cookies.delete(pair.slice(0, at));
      else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }
}

export const ownerPassword = 'correct horse battery staple';

/** In the form of the product, at the lowest costs: with the usual ones, each sign-in takes half a second. */
export function hashOwnerPassword(): string {
  const [salt, costs] = [Buffer.from('salt'), { N: 16, r: 1, p: 1 }];
  const key = scryptSync(ownerPassword, salt, 32, costs);
  return ['scrypt', ...Object.values(costs), salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** Opens a page, past the password where it is asked for. */
export async function signIn(browser: FormBrowser, url: string): Promise<BrowserPage> {
  const page = await browser.open(url);
  return page.url.includes('/sign-in') ? browser.submit({ password: ownerPassword }) : page;
}

/** The parameters that a browser is sent back to the client with. */
export function answerOf({ status, headers, body }: BrowserPage): URLSearchParams {
  const { location } = headers;
  if (typeof location !== 'string') throw new Error(`${status}, and no redirect: ${body}`);
  return new URL(location).searchParams;
}

/** A browser with no cookies, for a service that listens there. */
export function openFormBrowser(origin: string): FormBrowser {
  return new FormBrowser(origin, async ({ method, url, headers: { host, ...headers }, payload }) => {
    const response = await fetch(new URL(url, origin), {
      ...{ method, headers, redirect: 'manual' },
      ...(payload === undefined ? {} : { body: payload }),
    });
    return {
      status: response.status,
      headers: { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() },
      body: await response.text(),
    };
  });
}

function tryFindForm(html: string): Form | undefined {
  let action: string | undefined;
  let isOpen = true;
  const fields: [string, string][] = [];
  const parser = new Parser({
    onopentag(tag, { name, value = '', type, checked, ...more }) {
      if (tag === 'form') action ??= more['action'] ?? '';
      const counts = type !== 'checkbox' || checked !== undefined;
      if (tag === 'input' && action !== undefined && isOpen && name !== undefined && counts)
        fields.push([name, value]);
    },
    onclosetag(tag) {
      if (tag === 'form') isOpen = false;
    },
  });
  parser.end(html);
  return action === undefined ? undefined : { action, fields };
}
