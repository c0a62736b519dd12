import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { AccessStores } from '../../docs-service/auth/accessStores.ts';
import { createSecret } from '../../docs-service/auth/accessTokens.ts';
import { type ConsentPage, consentPage } from '../../docs-service/http/signIn/consentPage.ts';
import {
  clientProblemPage,
  signedOutPage,
  signInHeaders,
  signInPage,
  signOutPage,
} from '../../docs-service/http/signIn/signInPages.ts';
import { parseFrontMatter } from '../../protocol/base/yaml.ts';
import { hostileMarks } from './hostileMarks.ts';
import { pictures } from './pictures.ts';

const rows = Array.from(
  { length: 6 },
  (_, at) => `| model-${at} | ${at * 7}B | ${'wide '.repeat(12)} | yes |`,
);

const guide = `# Choosing a *local* model

Short answers come from **small models**. Start with one that fits into memory[^1], as [the notes](notes/long.md#part-2) say,
or see [the site](https://example.org/models?size=7b).

> A model that does not fit is slower than one that is half as good.

## Sizes

| Model | Size | Remark | Tools |
|---|---:|---|---|
${rows.join('\n')}

## Commands

Run \`runner pull\` once. Press <kbd>Ctrl</kbd>+<kbd>K</kbd>.

\`\`\`sh
runner pull qwen3:8b && runner run qwen3:8b --context 32768 --keep-alive 30m --verbose "Explain this function, and name what may fail"
\`\`\`

- [x] installed
- [ ] measured
  1. once
  2. twice

<details><summary>More</summary>Hidden at first.</details>

<pre>raw
  text</pre>

### Pictures

![A chart of three bars](pictures/chart.svg) ![gone](pictures/gone.png)
[![](https://badges.example/build.svg)](https://ci.example/) ![Diagram](https://cdn.example/d.png)

## Content

A heading with a usual name.

[^1]: With room for the context. See [Sizes](#sizes).
`;

const parts = Array.from(
  { length: 12 },
  (_, at) =>
    `## Part ${at + 1}\n\n${'Plain words make a long text that nobody reads to its end. '.repeat(30)}`,
);

const chart =
  '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="120" viewBox="0 0 320 120"><rect width="320" height="120" fill="#e2efec"/><rect x="30" y="60" width="60" height="50" fill="#0b6360"/><rect x="130" y="30" width="60" height="80" fill="#0b6360"/><rect x="230" y="10" width="60" height="100" fill="#0b6360"/></svg>';

/** A library with a document of each kind that a page can look bad with. */
export const readingLibrary: Readonly<Record<string, string | Uint8Array>> = {
  'guide.md': `---
title: Choosing a local model
type: guide
tags: [Models, { slug: start, title: Getting started }]
date: 2026-11-02
updated: 2026-11-20T10:00:00Z
lang: en
authors: [Ada Lovelace, Grace Hopper]
description: What fits into your memory, and what to do when nothing does.
---
${guide}`,
  'notes/long.md': `---\ntitle: Notes on memory\ntags: [Models]\ndate: 2026-10-01\n---\n${parts.join('\n\n')}\n\nBack to [the guide](../guide.md).\n`,
  'hebrew.md':
    '---\ntitle: מדריך קצר\nlang: he\ntags: [Models]\ndate: 2026-09-01\n---\nזהו מסמך קצר על מודלים מקומיים, עם `code` באמצע.\n\n- ראשון\n- שני\n\n```js\nconst a = 1;\n```\n',
  'draft.md': '---\ntitle: A plan for models\ndraft: true\ntype: note\ndate: 2026-11-21\n---\nNot yet.\n',
  'untitled.md': 'Only words, without a title.\n',
  'hostile.md': `---\ntitle: '${hostileMarks.title}'\ntype: '${hostileMarks.type}'\ntags: ['${hostileMarks.tag}']\nauthors: ['${hostileMarks.author}']\ndescription: '${hostileMarks.description}'\ndate: 2026-08-01\n---\n${hostileMarks.body}`,
  'pictures/chart.svg': chart,
  'pictures/small.png': pictures.png,
  'collections/handbook.yaml':
    'title: The handbook of models\ndescription: All there is to read, in order.\nauthor: Ada Lovelace\ndocs: [guide, long, hebrew, draft]\n',
  'collections/hostile.yaml': `title: '${hostileMarks.title}'\ndescription: '${hostileMarks.description}'\ndocs: [hostile]\n`,
  'collections/empty.yaml': 'title: An empty book\ndocs: [draft]\n',
};

/** The pages of the project itself, with more documents than one page of the library shows. */
export function ownPages(): Readonly<Record<string, string | Uint8Array>> {
  const short = Array.from({ length: 30 }, (_, at): [string, string] => [
    `short/${at}.md`,
    `---\nslug: short-${at}\ntype: note\n---\n# Short note ${at}\n\nA few words.\n`,
  ]);
  return {
    ...readingLibrary,
    ...Object.fromEntries(short),
    'documents.md': parseFrontMatter(readFileSync('docs/DOCUMENTS.md', 'utf8')).body,
  };
}

/** A session of the owner, as the cookie that a browser has after the sign-in at http://127.0.0.1:4000. */
export async function openSession(
  owners: AccessStores['owners'],
): Promise<{ readonly name: string; readonly value: string }> {
  const { text, hash } = createSecret('rdocs_session');
  const { epoch } = await owners.read();
  await owners.addSession({ hash, expires: Date.now() + 86_400_000, epoch }, Date.now());
  return { name: 'docs_session_4000', value: text };
}

const site = { root: '', title: 'runner-docs' };

const client: ConsentPage['client'] = {
  id: 'https://agent.example/oauth/client.json',
  name: 'Agent',
  uri: 'https://agent.example/',
  redirectUris: ['http://127.0.0.1/callback'],
  source: 'document',
};

export const consent: ConsentPage = {
  site,
  action: '/authorize/decision',
  request: 'request-1',
  csrf: 'csrf-1',
  client,
  redirectUri: 'http://127.0.0.1:33418/callback',
  scopes: ['read', 'draft', 'profile', 'email'],
  me: 'https://ada.example/',
};

const signIn = {
  ...{ site, csrf: 'csrf-1', to: '/read/guide?in=handbook', hasPassword: true },
  ...{ me: 'https://ada.example/', dataHint: '--data /srv/docs/data' },
};

/** Each page of the sign-in, and what those who want to deceive make of it. */
export const signInSamples: Readonly<Record<string, string>> = {
  'sign-in': signInPage(signIn),
  'sign-in-error': signInPage({ ...signIn, error: 'This is not the password. Try again.' }),
  'sign-in-unset': signInPage({ ...signIn, hasPassword: false }),
  consent: consentPage(consent),
  'consent-hostile': consentPage({
    ...consent,
    problem: 'Nothing was ticked. Tick what the app may do, or cancel.',
    client: {
      ...client,
      id: `https://${'a-long-name.'.repeat(18)}evil.example/${'a'.repeat(600)}`,
      name: `\u202e${hostileMarks.title}${'W'.repeat(500)}`,
      uri: `https://bank.example/${'x'.repeat(600)}`,
    },
    redirectUri: 'https://other.example/callback',
  }),
  'consent-registered': consentPage({
    ...consent,
    client: { id: 'c_8f2e1b7a90', name: null, uri: null, redirectUris: [], source: 'registration' },
    redirectUri: 'https://www.cursor.com/callback',
    scopes: consent.scopes.slice(0, 1),
  }),
  'client-problem': clientProblemPage({
    site,
    title: 'This app cannot be checked',
    sentence: `The description of the app at https://app.example/${'x'.repeat(300)} could not be loaded.`,
    solution: {
      commandLine: `runner-docs client add --client-id https://app.example/${'x'.repeat(300)} --redirect-uri REDIRECT_ADDRESS --name "An app"`,
      note: 'Replace REDIRECT_ADDRESS.',
    },
  }),
  'sign-out': signOutPage({ site, csrf: 'csrf-1' }),
  'signed-out': signedOutPage(site),
  'consent-identity': consentPage({ ...consent, scopes: [] }),
};

/** Serves the samples, as the sign-in does its pages. */
export function serveSamples(app: FastifyInstance): void {
  app.get<{ Params: { name: string } }>('/samples/:name', async (request, reply) =>
    reply
      .headers(signInHeaders('http://127.0.0.1:33418/callback'))
      .type('text/html; charset=utf-8')
      .send(signInSamples[request.params.name]),
  );
}

/** Each kind of page, by its path. */
export const everyPage: readonly string[] = [
  '/',
  '/docs',
  '/read',
  '/read?page=2',
  '/read?path=notes/',
  '/read?path=nowhere/',
  '/read?type=note',
  '/read?tag=models',
  '/read?q=model*',
  '/read?q=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E',
  '/read?q=model&tag=models',
  '/read/guide',
  '/read/guide?in=handbook',
  '/read/long?in=handbook',
  '/read/hebrew',
  '/read/draft',
  '/read/untitled',
  '/read/hostile',
  '/read/documents',
  '/read/collections/handbook',
  '/read/collections/hostile',
  '/read/collections/empty',
  '/read/collections/empty.epub',
  '/read/gudie',
  '/read/nowhere/else',
  '/read?page=0',
  ...Object.keys(signInSamples).map((name) => `/samples/${name}`),
];
