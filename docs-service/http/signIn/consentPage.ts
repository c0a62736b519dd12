import type { Scope } from '../../auth/accessTokens.ts';
import type { OAuthClient } from '../../auth/clientStore.ts';
import { isLoopbackName } from '../../auth/clientStore.ts';
import { escapeHtml, type Site } from '../pages.ts';
import { card, foreign, notice } from './signInPages.ts';

export interface ConsentPage {
  readonly site: Site;
  /** The address that the form is posted to. */
  readonly action: string;
  /** Names the request that is decided on. */
  readonly request: string;
  readonly csrf: string;
  readonly client: OAuthClient;
  /** Where the answer goes, checked before. */
  readonly redirectUri: string;
  /** The scopes that may be allowed. */
  readonly scopes: readonly Scope[];
  /** The address that identifies the owner. */
  readonly me: string;
  /** Why the last answer did not count, in a sentence. */
  readonly problem?: string | undefined;
}

/** Asks the owner what an app may do. Everything that the app says about itself is marked as such. */
export function consentPage(options: ConsentPage): string {
  const { site, action, request, csrf, client, scopes, me, problem } = options;
  const items = scopes.map(scopeItem);
  // The only certain fact about an app is its address. Empty if the `client_id` is none.
  const clientHost = URL.canParse(client.id) ? new URL(client.id).host : '';
  const app = clientHost === '' ? 'an app' : `<span class="host">${foreign(clientHost, 260)}</span>`;
  const identityOnly = `<p>The app cannot read anything. It only learns that you are <strong>${foreign(me, 200)}</strong>.</p>`;
  const scopeList = `<fieldset${problem === undefined ? '' : ' aria-describedby="problem"'}>
<legend>What the app may do</legend>
<ul class="scopes">
${items.join('\n')}
</ul>
</fieldset>`;
  return card(
    site,
    'Allow an app',
    `<h1>Allow ${app} to use your library?</h1>
${problem === undefined ? '' : notice(problem, 'problem')}${facts(options, clientHost)}
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="request" value="${escapeHtml(request)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
${items.length === 0 ? identityOnly : scopeList}
<p>You answer as <strong>${foreign(me, 200)}</strong>. You can end the access at any time with <code>runner-docs token
revoke</code>.</p>
<div class="actions">
<button class="main" name="decision" value="allow">Allow</button>
<button name="decision" value="cancel">Cancel</button>
</div>
</form>`,
  );
}

function facts({ client, redirectUri }: ConsentPage, clientHost: string): string {
  const rows = [
    client.name === null
      ? fact('The app', 'gives no name')
      : fact('The app calls itself', `“${foreign(client.name, maxNameLength)}”`, nameNote(client)),
    fact(
      clientHost === '' ? 'Its identifier here' : 'Its address',
      `<code>${foreign(client.id, 2_048)}</code>`,
    ),
    ...(client.uri === null ? [] : [homePage(client.uri, clientHost)]),
    destination(redirectUri, clientHost),
  ];
  return `<dl class="facts">\n${rows.join('\n')}\n</dl>`;
}

/** In characters: enough for a name, but not for a sentence. */
const maxNameLength = 60;

function nameNote({ source }: OAuthClient): string {
  switch (source) {
    case 'document':
    case 'registration':
      return 'Nobody has checked this name. Any app can call itself anything.';
    case 'operator':
      return 'Whoever runs this service gave it this name.';
  }
}

function homePage(uri: string, clientHost: string): string {
  const host = URL.canParse(uri) ? new URL(uri).host : '';
  const isElsewhere = clientHost !== '' && host !== clientHost;
  const warning = isElsewhere ? `This is another site than ${foreign(clientHost, 260)}.` : undefined;
  return fact('It says its home page is', foreign(uri, 150), warning, isElsewhere);
}

function destination(redirectUri: string, clientHost: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  // An address with a custom scheme may have no host.
  const redirectHost = /^https?:$/.test(protocol) ? host : redirectUri;
  const place = `<span class="host">${foreign(redirectHost, 260)}</span>`;
  const title = 'Your answer is sent to';
  if (protocol === 'http:' && isLoopbackName(hostname))
    return fact(
      title,
      `a program on the computer that you sit at (${place})`,
      'Allow this only if you started to sign in there yourself, just now.',
    );
  return clientHost !== '' && redirectHost !== clientHost
    ? fact(title, place, "This is not the app's own site.", true)
    : fact(title, place);
}

function fact(term: string, value: string, note?: string, isWarning = false): string {
  const more = note === undefined ? '' : `<p${isWarning ? ' class="warning"' : ''}>${note}</p>`;
  return `<div><dt>${term}</dt><dd>${value}${more}</dd></div>`;
}

function scopeItem(scope: Scope): string {
  const id = `scope-${scope}`;
  return `<li><input type="checkbox" id="${id}" name="scope" value="${scope}" aria-describedby="${id}-means" checked>
<div><label for="${id}">${names[scope]}</label><p id="${id}-means">${escapeHtml(sentences[scope])}</p></div></li>`;
}

const names: Readonly<Record<Scope, string>> = {
  read: 'Read the library',
  draft: 'Read drafts',
  profile: 'See your profile',
  email: 'See your email address',
};

const sentences: Readonly<Record<Scope, string>> = {
  read: 'It can search and read everything that is published, and download it as Markdown, PDF and EPUB.',
  draft: 'It can also see drafts, which are not published yet.',
  profile: 'It learns the name, the address and the picture that you have set for yourself.',
  email: 'It learns your email address, if you have set one.',
};
