import { escapeHtml, page, pageHeaders, type Site } from '../pages.ts';

export interface SignInPage {
  readonly site: Site;
  /** Protects the form against posts from elsewhere. */
  readonly csrf: string;
  /** Where the owner wanted to go. */
  readonly to: string;
  /** Why the last try failed, in a sentence. */
  readonly error?: string | undefined;
  /** Without a password there is no form; the page explains how to set one. */
  readonly hasPassword: boolean;
  /** The address that identifies the owner. */
  readonly me: string;
  /** The flags after `owner set-password` for this very service, such as `--data /srv/docs`. */
  readonly dataHint: string;
}

export function signInPage({ site, csrf, to, error, hasPassword, me, dataHint }: SignInPage): string {
  const problem = error === undefined ? '' : notice(error, 'error');
  const described = error === undefined ? '' : ' aria-invalid="true" aria-describedby="error"';
  // Without a name, the field is not sent: it only tells a password manager whose password this is.
  const account = `<input type="text" autocomplete="username" value="${escapeHtml(me)}" readonly hidden>`;
  const form = `${problem}<form method="post" action="${site.root}/sign-in">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<input type="hidden" name="to" value="${escapeHtml(to)}">
${account}
<div class="field">
<label for="password">Password</label>
<input id="password" type="password" name="password" autocomplete="current-password" required maxlength="1024" autofocus${described}>
</div>
<div class="actions"><button class="main">Sign in</button></div>
</form>`;
  const command = `runner-docs owner set-password${dataHint === '' ? '' : ` ${dataHint}`}`;
  const instruction = `<p>No password has been set for this library yet. On the machine that runs the service, run this
command. It reads one line from standard input: type the password, at least 12 characters, and press Enter.</p>
${commandLine(command)}
<p>Then load this page again.</p>`;
  return card(
    site,
    'Sign in',
    `<h1>Sign in</h1>
<p>This library belongs to ${foreign(me)}.</p>
${hasPassword ? form : instruction}`,
  );
}

export interface ClientProblemPage {
  readonly site: Site;
  readonly title: string;
  /** What is wrong with the program's request, and what to do. */
  readonly sentence: string;
  readonly solution?: Solution | undefined;
}

/** A command that solves a problem, to be copied. */
export interface Solution {
  readonly commandLine: string;
  /** What to change in the command before it is run. */
  readonly note?: string;
}

/** A page for a request that cannot be answered with a redirect, such as one from an unknown program. */
export function clientProblemPage({ site, title, sentence, solution }: ClientProblemPage): string {
  const { commandLine: command = '', note } = solution ?? {};
  const remedy = `<p>If you know this app and want to use it, run this command on the machine that runs the service, and try again:</p>
${commandLine(command)}
${note === undefined ? '' : `<p>${escapeHtml(note)}</p>\n`}`;
  return card(
    site,
    title,
    `<h1>${foreign(title)}</h1>
<p>${foreign(sentence)}</p>
${solution === undefined ? '' : remedy}<p class="soft">Nothing was allowed. You can close this page.</p>`,
  );
}

/** Asks before it ends the session, because a link alone must not end one. */
export function signOutPage({ site, csrf }: { readonly site: Site; readonly csrf: string }): string {
  return card(
    site,
    'Sign out',
    `<h1>Sign out?</h1>
<p>Then this browser can no longer read the library.</p>
<form method="post" action="${site.root}/sign-out">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<div class="actions"><button class="main">Sign out</button></div>
</form>
<p><a href="${site.root}/read">Go back to the library</a></p>`,
  );
}

export function signedOutPage(site: Site): string {
  return card(
    site,
    'Signed out',
    `<h1>You are signed out</h1>
<p>This browser can no longer read the library. Apps that you have allowed keep their access; <code>runner-docs token
list</code> shows them, and <code>runner-docs token revoke</code> ends one.</p>
<p><a href="${site.root}/read">Sign in again</a></p>`,
  );
}

/**
 * For every page of the sign-in: nobody caches or frames it, and its form leads only to this service and, after the
 * answer, to the app.
 * @param redirectUri where the app wants its answer, checked before
 */
export function signInHeaders(redirectUri?: string) {
  const targets = redirectUri === undefined ? [] : [formTargetOf(redirectUri)];
  return { ...pageHeaders({ formTargets: targets }), 'cache-control': 'no-store' } as const;
}

/** As a source of a content security policy, which cannot name an IPv6 address, or a host in other schemes. */
function formTargetOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  const hasOrigin = /^https?:$/.test(protocol) && /^[a-z0-9.-]+(:\d+)?$/.test(host);
  return hasOrigin ? `${protocol}//${host}` : protocol;
}

/** A page with one thing to do. */
export function card(site: Site, title: string, body: string): string {
  return page({ site, title, isAlone: true, body: `<div class="card">${body}</div>` });
}

/** Why it did not work, read aloud when the page opens. */
export function notice(sentence: string, id: string): string {
  return `<div class="notice" role="alert" id="${id}"><p>${foreign(sentence)}</p></div>\n`;
}

/**
 * Text that somebody else has chosen. It cannot change the direction of the sentence around it, shows no invisible
 * characters, and is cut before it fills the page.
 */
export function foreign(text: string, longest = 600): string {
  const visible = text.replace(/\s+/g, ' ').replace(invisible, '');
  const line = visible
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...line];
  const shown = characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : line;
  return `<bdi class="foreign">${escapeHtml(shown)}</bdi>`;
}

/** Control and format characters, including those that set a direction, and fillers that are invisible. */
const invisible = /\p{Cc}|\p{Cf}|\p{Co}|\p{Cn}|\p{Default_Ignorable_Code_Point}/gu;

function commandLine(command: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(command)}</code></pre>`;
}
