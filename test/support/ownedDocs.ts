import { mkdir } from 'node:fs/promises';
import { openAccess } from '../../docs-service/stores.ts';
import { type DocsService, runDocs, serveDocs } from './docsProcess.ts';
import { answerOf, type FormBrowser, hashOwnerPassword, openFormBrowser, signIn } from './formBrowser.ts';
import { temporaryFolder } from './temporaryFolder.ts';

interface Teardown {
  teardown(work: () => unknown): void;
}

/** The built service in a process of its own, with an owner who can sign in. */
export interface OwnedDocs {
  readonly service: DocsService;
  readonly origin: string;
  readonly places: readonly string[];
  /** A browser with no cookies. */
  openBrowser(): FormBrowser;
  /** Opens what a client sent the browser to, signs in, says yes, and returns what the client gets back. */
  allow(url: string, browser?: FormBrowser): Promise<{ readonly to: URL; readonly answer: URLSearchParams }>;
  /** A token by the command line. */
  createToken(): Promise<string>;
}

export async function openOwnedDocs(t: Teardown, flags: readonly string[] = []): Promise<OwnedDocs> {
  const folder = await temporaryFolder(t, {
    'content/install.md': '---\ntitle: Install\n---\n# Install\n\nHow to install it on Linux.\n',
    'content/collections/book.yaml': 'title: A book\ndocs: [install]\n',
  });
  const data = ['--data', `${folder}/data`];
  const places = ['--content', `${folder}/content`, ...data];
  await mkdir(`${folder}/data`, { mode: 0o700 });
  const access = await openAccess({ data: `${folder}/data`, database: undefined });
  await access.owners.setPassword({ password: hashOwnerPassword() });
  await access.close();
  const service = await serveDocs([...places, ...flags]);
  t.teardown(() => service.stop());
  await service.whenReady();
  const { origin } = service;
  const openBrowser = () => openFormBrowser(origin);
  return {
    ...{ service, origin, places, openBrowser },
    async allow(url, browser = openBrowser()) {
      await signIn(browser, url);
      const page = await browser.submit({ decision: 'allow' });
      return { to: new URL(String(page.headers['location'] ?? '')), answer: answerOf(page) };
    },
    async createToken() {
      return (await runDocs(['token', 'create', ...data])).stdout.trim();
    },
  };
}
