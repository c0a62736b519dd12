import type { Scope } from '../../auth/accessToken.ts';
import type { OAuthClient } from '../../auth/oauthClient.ts';
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
  /** The host of the `client_id`; empty if it is not an address. */
  readonly clientHost: string;
  readonly redirectHost: string;
  /** The answer goes to another host than the client's. */
  readonly isRedirectElsewhere: boolean;
  /** The answer goes to a program on the reader's own computer. */
  readonly isLocal: boolean;
  /** The scopes that may be allowed. */
  readonly scopes: readonly ConsentScope[];
  /** The address that identifies the owner. */
  readonly me: string;
  /** Why the last answer did not count, in a sentence. */
  readonly problem?: string | undefined;
}

export interface ConsentScope {
  readonly scope: Scope;
  /** What it allows, in a plain sentence. */
  readonly sentence: string;
  /** Whether it is ticked. */
  readonly isAsked: boolean;
}

/** Asks the owner what an app may do. Everything that the app says about itself is marked as such. */
export function consentPage(options: ConsentPage): string {
  const { site, action, request, csrf, scopes, me, problem } = options;
  const items = scopes.map(scopeItem);
  return card(
    site,
    'Allow an app',
    `<h1>Allow ${appName(options)} to use your library?</h1>
${problem === undefined ? '' : notice(problem, 'problem')}${facts(options)}
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="request" value="${escapeHtml(request)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
${items.length === 0 ? identityOnly(me) : scopeList(items, problem)}
<p>You answer as <strong>${foreign(me, 200)}</strong>. You can end the access at any time with <code>runner-docs token
revoke</code>.</p>
<div class="actions">
<button class="main" name="decision" value="allow">Allow</button>
<button name="decision" value="cancel">Cancel</button>
</div>
</form>`,
  );
}

function scopeList(items: readonly string[], problem: string | undefined): string {
  return `<fieldset${problem === undefined ? '' : ' aria-describedby="problem"'}>
<legend>What the app may do</legend>
<ul class="scopes">
${items.join('\n')}
</ul>
</fieldset>`;
}

function identityOnly(me: string): string {
  return `<p>The app cannot read anything. It only learns that you are <strong>${foreign(me, 200)}</strong>.</p>`;
}

/** The only certain fact about an app is its address. Without one, nothing is certain. */
function appName({ clientHost }: ConsentPage): string {
  return clientHost === '' ? 'an app' : `<span class="host">${foreign(clientHost, 260)}</span>`;
}

function facts(options: ConsentPage): string {
  const { client, clientHost } = options;
  const rows = [
    client.name === null
      ? fact('The app', 'gives no name')
      : fact('The app calls itself', `“${foreign(client.name, maxNameLength)}”`, nameNote(client)),
    fact(
      clientHost === '' ? 'Its identifier here' : 'Its address',
      `<code>${foreign(client.id, 2_048)}</code>`,
    ),
    ...(client.uri === null ? [] : [homePage(client.uri, clientHost)]),
    destination(options),
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

function destination({ redirectHost, isRedirectElsewhere, isLocal }: ConsentPage): string {
  const place = `<span class="host">${foreign(redirectHost, 260)}</span>`;
  const title = 'Your answer is sent to';
  if (isLocal)
    return fact(
      title,
      `a program on the computer that you sit at (${place})`,
      'Allow this only if you started to sign in there yourself, just now.',
    );
  return isRedirectElsewhere
    ? fact(title, place, "This is not the app's own site.", true)
    : fact(title, place);
}

function fact(term: string, value: string, note?: string, isWarning = false): string {
  const more = note === undefined ? '' : `<p${isWarning ? ' class="warning"' : ''}>${note}</p>`;
  return `<div><dt>${term}</dt><dd>${value}${more}</dd></div>`;
}

function scopeItem({ scope, sentence, isAsked }: ConsentScope): string {
  const id = `scope-${scope}`;
  return `<li><input type="checkbox" id="${id}" name="scope" value="${scope}" aria-describedby="${id}-means"${isAsked ? ' checked' : ''}>
<div><label for="${id}">${names[scope]}</label><p id="${id}-means">${escapeHtml(sentence)}</p></div></li>`;
}

const names: Readonly<Record<Scope, string>> = {
  read: 'Read the library',
  draft: 'Read drafts',
  profile: 'See your profile',
  email: 'See your email address',
};
