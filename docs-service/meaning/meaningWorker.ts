import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { SerialQueue } from '../../protocol/base/keyedWork.ts';
import { messageOf } from '../../protocol/base/text.ts';
import { answerCalls, type WorkerAnswer } from '../base/calledWorker.ts';
import { Embeddings, EmbeddingsError } from './embeddings.ts';
import type { MeaningMethods, MeaningNote, MeaningThreadData } from './meaning.ts';
import { MeaningIndex } from './meaningIndex.ts';
import type { VectorStore } from './vectorStore.ts';

/** Milliseconds between two checks for what other processes have embedded. */
const pollInterval = 5_000;

if (parentPort) serve(parentPort, workerData as MeaningThreadData);

function serve(port: MessagePort, { place, embeddings: options }: MeaningThreadData): void {
  const send = (note: MeaningNote) => port.postMessage({ note } satisfies WorkerAnswer<MeaningNote>);
  let index: Promise<MeaningIndex> | undefined;
  const open = () =>
    (index ??= openIndex().catch((error) => {
      index = undefined;
      throw error;
    }));
  const openIndex = async () => {
    const store = await openStore(place, (message) => send({ log: message }));
    const embeddings = new Embeddings(options);
    const made = new MeaningIndex({
      store,
      embeddings,
      model: options.model,
      onChange: () => send('changed'),
    });
    await made.refresh();
    return made;
  };
  // What writes, and what reads the store again, has its turn; a question waits for neither.
  const queue = new SerialQueue();
  const inTurn = <T>(work: (opened: MeaningIndex) => Promise<T>) =>
    queue.run('', async () => work(await open()));
  const poll = setInterval(() => {
    inTurn((opened) => opened.refresh()).catch(() => undefined);
  }, pollInterval);
  const methods: MeaningMethods & { close(): Promise<void> } = {
    sync: (documents) => inTurn((opened) => opened.sync(documents)),
    put: (documents) => inTurn((opened) => opened.put(documents)),
    finish: () => inTurn((opened) => opened.finish()),
    nearest: async (question, options) => (await open()).nearest(question, options),
    async close() {
      clearInterval(poll);
      await (await index?.catch(() => undefined))?.close();
    },
  };
  answerCalls(
    port,
    async (method, parameters) => {
      const work: (...given: readonly never[]) => Promise<unknown> = methods[method as keyof typeof methods];
      return { value: await work(...(parameters as readonly never[])) };
    },
    (error) => ({
      kind: error instanceof EmbeddingsError ? 'unavailable' : 'unexpected',
      message: messageOf(error),
    }),
  );
}

async function openStore(
  { file, database }: MeaningThreadData['place'],
  note: (message: string) => void,
): Promise<VectorStore> {
  if (database !== undefined)
    return (await import('./postgresVectors.ts')).openPostgresVectors(database, note);
  return (await import('./sqliteVectors.ts')).openSqliteVectors(file);
}
