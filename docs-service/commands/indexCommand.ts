import { setTimeout as wait } from 'node:timers/promises';
import { count, messageOf, showLine } from '../../protocol/base/text.ts';
import { openDataFolder } from '../base/dataFolder.ts';
import { createProgressLine, defineCommand, embedding, type ProgramContext } from '../cli/command.ts';
import { openContentFolder } from '../content/contentFolder.ts';
import { countWarnings, toSentence, warningLines } from '../content/document.ts';
import type { LibraryIndexer } from '../library/libraryIndexer.ts';
import { createLibraryMeaning, type MeaningParts } from '../libraryParts.ts';
import { embeddingsOptions, parseEmbeddings, parsePlaces, placeOptions } from '../serveConfig.ts';
import { openStores } from '../stores.ts';

export const indexCommand = defineCommand({
  usage: 'index',
  summary: 'Updates the index and says what is wrong with the files. "serve" does the same all the time.',
  words: 0,
  options: { ...placeOptions, ...embeddingsOptions },
  async run({ values }, context) {
    const { env, note, print, now, ending } = context;
    const config = { ...parsePlaces(values, env), embeddings: parseEmbeddings(values) };
    const folder = await openContentFolder(config.content, config);
    await openDataFolder(config.data);
    const stores = await openStores(config, context.parts, note);
    const lease = await stores.tryBecomeWriter();
    try {
      if (lease === undefined)
        throw new Error(
          'Another process is updating the index: "serve" or another "index". Wait until it ends, or leave the work to it.',
        );
      const { index } = stores;
      const progress = createProgressLine(context, (text) => note(`${text}\n`));
      const { LibraryIndexer: Indexer } = await import('../library/libraryIndexer.ts');
      const indexer = await Indexer.create({
        folder,
        index,
        slugs: stores.access.slugs,
        now,
        future: config.future,
        onProgress: progress,
        onLoss: (sentence) => note(`${showLine(sentence)}\n`),
      });
      const unsettled = await syncUntilSettled(indexer, ending);
      const { documents, problems, warnings } = await index.summary();
      for (const problem of problems) note(`${showLine(toSentence(problem))}\n`);
      for (const line of warningLines(warnings)) note(`warning: ${showLine(line)}\n`);
      const warned = warnings.length === 0 ? '' : `, ${count(countWarnings(warnings), 'warning')}`;
      print(`${count(documents, 'document')}, ${count(problems.length, 'problem')}${warned}\n`);
      if (config.embeddings) await embed({ config, stores }, context);
      if (unsettled.length === 0) return 0;
      const folders = unsettled.map((path) => showLine(path) || '.').join(', ');
      note(
        `Something is still being written in these folders, and the changes there are missing: ${folders}. Run "runner-docs index" again when that is done.\n`,
      );
      return 1;
    } finally {
      await lease?.dispose();
      await stores.close();
    }
  },
});

/** What the runner cannot embed now, "serve" embeds later. */
async function embed(parts: Pick<MeaningParts, 'config' | 'stores'>, context: ProgramContext): Promise<void> {
  const { note, print, ending } = context;
  const log = (text: string) => note(`${text}\n`);
  const meaning = createLibraryMeaning({ ...parts, isWriter: () => false, log }, context);
  const progress = createProgressLine(context, log, embedding);
  try {
    let isNews = false;
    await meaning?.embedAll(ending, ({ embedded, toEmbed }) => {
      isNews ||= toEmbed > 0;
      if (isNews && embedded > 0) progress({ done: embedded, total: embedded + toEmbed });
    });
    print(`${count(meaning?.progress?.embedded ?? 0, 'document')} embedded\n`);
  } catch (error) {
    log(`${parts.config.embeddings?.url} cannot embed: ${showLine(messageOf(error))}`);
  } finally {
    await meaning?.close();
  }
}

/** Milliseconds until a file that is being written is checked again, and how often that is done. */
const settle = 200;
const rounds = 15;

/** Returns the folders in which something was being written all the time. */
async function syncUntilSettled(indexer: LibraryIndexer, ending: AbortSignal): Promise<readonly string[]> {
  let { unsettled } = await indexer.sync(undefined, ending);
  for (let round = 0; unsettled.length > 0 && round < rounds; round++) {
    await wait(settle, undefined, { signal: ending });
    ({ unsettled } = await indexer.sync(unsettled, ending));
  }
  return unsettled;
}
