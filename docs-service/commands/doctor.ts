import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasModes, isOpenToOthers } from '../../protocol/base/platform/privateFile.ts';
import { count, showLine } from '../../protocol/base/text.ts';
import type { Owner } from '../auth/ownerStore.ts';
import { type BaseUrl, parseBaseUrl } from '../base/baseUrl.ts';
import { UsageError } from '../base/options.ts';
import { defineCommand, type ProgramContext } from '../cli/command.ts';
import { openContentFolder } from '../content/contentFolder.ts';
import { toSentence, warningKinds, warningLines, warningsByKind } from '../content/document.ts';
import { metadataPath } from '../http/signIn/metadataRoutes.ts';
import { lossSentence } from '../library/reports.ts';
import type { EmbeddingsOptions } from '../meaning/embeddings.ts';
import type { IndexSummary } from '../search/documentIndex.ts';
import {
  embeddingsOptions,
  type LibrarySources,
  parseEmbeddings,
  parsePlaces,
  placeOptions,
  serveOptions,
} from '../serveConfig.ts';
import { openStores, type Stores } from '../stores.ts';
import { connectCommand, usualOrigin } from './connect.ts';
import { type DiscoveryFinding, fine, followDiscovery, wrong } from './discovery.ts';

export const doctorCommand = defineCommand({
  usage: 'doctor [KIND]',
  summary: 'Says what is wrong with the library and the service, and how to fix it.',
  words: 0,
  moreWords: 1,
  options: {
    ...placeOptions,
    ...embeddingsOptions,
    'base-url': connectCommand.options['base-url'],
    fonts: serveOptions.fonts,
    warnings: { help: 'every warning about documents, or those of a KIND, such as link' },
    json: { help: 'the same for programs, as JSON' },
  },
  async run({ values, words: [kind] }, context) {
    const places = parsePlaces(values, context.env);
    if (values.warnings) return printWarnings(places, kind, values.json, context);
    if (kind !== undefined) throw new UsageError(`add --warnings before "${kind}".`);
    const named = values['base-url'];
    const baseUrl = parseBaseUrl(named ?? usualOrigin);
    const findings = [
      ...fine(`runner-docs ${context.version} on Node ${process.versions.node}, ${engineOf(places)}`),
      ...(await findInContent(places)),
      ...(await findInData(places, context, baseUrl)),
      ...(await findFonts(values.fonts, context)),
      ...(await findEmbeddings(parseEmbeddings(values))),
      // It is no problem if no service runs.
      ...(await followDiscovery({ baseUrl, isNamed: named !== undefined, fetch, now: context.now })),
    ];
    const shown = findings.map((finding) => ({ state: stateOf(finding), text: finding.text }));
    if (values.json) context.print(`${JSON.stringify({ findings: shown }, null, 2)}\n`);
    else for (const { state, text } of shown) context.print(`${words[state]}  ${showLine(text)}\n`);
    return findings.every(({ isFine }) => isFine) ? 0 : 1;
  },
});

async function printWarnings(
  places: LibrarySources,
  kind: string | undefined,
  json: boolean,
  { parts, note, print }: ProgramContext,
): Promise<number> {
  const [only] = warningKinds.filter((one) => one === kind);
  if (kind !== undefined && only === undefined)
    throw new UsageError(`there is no kind "${kind}"; the kinds are ${warningKinds.join(', ')}.`);
  if (places.database === undefined && !(await stat(places.data).catch(() => undefined)))
    throw new Error(notThere(places));
  const stores = await openStores(places, parts, note);
  try {
    const { warnings } = await stores.index.summary();
    const kinds = warningsByKind(warnings);
    const found = [...kinds].flatMap(([one, all]) => (only === undefined || only === one ? all : []));
    if (json) print(`${JSON.stringify({ warnings: found }, null, 2)}\n`);
    else for (const one of found) print(`${one.kind}  ${showLine(toSentence(one))}\n`);
    return 0;
  } finally {
    await stores.close();
  }
}

function notThere({ data }: LibrarySources): string {
  return `${data} does not exist: nothing was served or indexed yet. Run "runner-docs index" or "serve".`;
}

function stateOf({ isFine, isWarning = false }: DiscoveryFinding): keyof typeof words {
  if (!isFine) return 'problem';
  return isWarning ? 'warning' : 'ok';
}

/** All words have the same width. */
const words = { problem: 'PROBLEM', warning: 'warning', ok: 'ok     ' } as const;

function engineOf({ database }: LibrarySources): string {
  if (database !== undefined) return 'with PostgreSQL';
  return Number(process.versions.node.split('.')[0]) >= 24 ? "with Node's own SQLite" : 'with libsql';
}

async function findInContent(places: LibrarySources): Promise<readonly DiscoveryFinding[]> {
  try {
    const { root } = await openContentFolder(places.content, places);
    return fine(`The content is in ${root}.`);
  } catch (error) {
    return wrong((error as Error).message);
  }
}

async function findInData(
  places: LibrarySources,
  context: ProgramContext,
  baseUrl: BaseUrl,
): Promise<readonly DiscoveryFinding[]> {
  const { data, database } = places;
  const found = await stat(data).catch(() => undefined);
  if (found === undefined && database === undefined) return wrong(notThere(places));
  const others = found !== undefined && isOpenToOthers(found);
  const access = others
    ? wrong(`Other users can read ${data}. Run: chmod 700 ${data}`)
    : fine(
        `The data is in ${data}${hasModes ? ', and only its owner can read it' : '. Runner does not check its permissions on Windows'}.`,
      );
  const isIndexed =
    database !== undefined || (await stat(join(data, 'index.db')).catch(() => undefined)) !== undefined;
  if (!isIndexed) return [...access, ...wrong('There is no index yet. Run "runner-docs index" or "serve".')];
  return [...access, ...(await findInIndex(places, context, baseUrl))];
}

async function findInIndex(
  places: LibrarySources,
  context: ProgramContext,
  baseUrl: BaseUrl,
): Promise<readonly DiscoveryFinding[]> {
  let stores: Stores | undefined;
  try {
    stores = await openStores(places, context.parts, context.note);
    const { tokens, owners } = stores.access;
    const lost = await stores.index.lostFiles();
    return [
      ...findingsOf(await stores.index.summary()),
      ...(lost.length === 0 ? [] : wrong(`${lossSentence(lost)} ${indexedAgain}`)),
      ...findReaders((await tokens.list()).length, await owners.read(), baseUrl),
    ];
  } catch (error) {
    return wrong((error as Error).message);
  } finally {
    await stores?.close();
  }
}

function findingsOf(summary: IndexSummary): readonly DiscoveryFinding[] {
  const { documents, problems, warnings, isComplete } = summary;
  return [
    ...(isComplete
      ? fine(`${count(documents, 'document')} can be read.`)
      : wrong('The index is not complete yet. Wait for "serve", or run "runner-docs index".')),
    ...problems.flatMap((problem) => wrong(toSentence(problem))),
    ...warningLines(warnings).map((text) => ({ isFine: true, isWarning: true, text })),
  ];
}

const indexedAgain = '"runner-docs index" and the next start of "serve" index them again.';

function findReaders(
  tokens: number,
  { me, password }: Owner,
  { href }: BaseUrl,
): readonly DiscoveryFinding[] {
  if (tokens === 0 && password === null)
    return wrong(
      'Nobody can read yet. Run "runner-docs owner set-password" to sign in, or "runner-docs token create".',
    );
  const signIn = password === null ? 'Without a password nobody can sign in' : 'The owner can sign in';
  const given = fine(`${signIn}; ${count(tokens, 'token')} issued.`);
  if (password === null || me === null || me.startsWith(`${href}/`)) return given;
  const link = `<link rel="indieauth-metadata" href="${href}${metadataPath}">`;
  return [
    ...given,
    ...fine(`The owner is ${me}. For IndieAuth, the head of that page needs this line: ${link}`),
  ];
}

/** Without a runner, everything but the search by meaning works. */
async function findEmbeddings(options: EmbeddingsOptions | undefined): Promise<readonly DiscoveryFinding[]> {
  if (options === undefined) return [];
  const { Embeddings } = await import('../meaning/embeddings.ts');
  const embeddings = new Embeddings(options);
  try {
    const signal = AbortSignal.timeout(embedWithin);
    const [vector] = await embeddings.embed(['A test.'], { kind: 'text', signal });
    return fine(`${options.url} embeds with ${options.model}: ${vector?.length ?? 0} numbers for a text.`);
  } catch (error) {
    const said = `${options.url} cannot embed with ${options.model}: ${(error as Error).message}`;
    const text = `${said} Until it can, documents are found by text alone.`;
    return [{ isFine: true, isWarning: true, text }];
  } finally {
    await embeddings.close();
  }
}

/** In ms: the runner may have to load the model. */
const embedWithin = 30_000;

/** A library without such text needs no such font, so nothing here is a problem. */
async function findFonts(
  named: readonly string[],
  { parts }: ProgramContext,
): Promise<readonly DiscoveryFinding[]> {
  const [{ fontCoverage }, { usualFontFolders }] = await Promise.all([
    import('../formats/pdf/fontBook.ts'),
    import('../formats/pdf/fontFiles.ts'),
  ]);
  const { found, missing } = fontCoverage([join(parts, 'fonts'), ...named, ...usualFontFolders()]);
  const all = ['Latin', 'Greek', 'Cyrillic', ...found].join(', ');
  if (missing.length === 0) return fine(`A PDF has fonts for ${all}.`);
  return [
    ...fine(`A PDF has fonts for ${all}, and a substitute for ${missing.join(', ')}.`),
    ...fine(
      'More fonts: install them (on Debian fonts-noto-core and fonts-noto-cjk), or name a folder with --fonts.',
    ),
  ];
}
