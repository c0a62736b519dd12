import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../protocol/base/errorText.ts';
import { SerialQueue } from '../../protocol/base/serialQueue.ts';
import { createEmbeddings, EmbeddingsError } from './embeddings.ts';
import { MeaningIndex } from './meaningIndex.ts';
import type { MeaningAnswer, MeaningRequest, MeaningThreadData } from './meaningThread.ts';
import type { VectorStore } from './vectorStore.ts';

/** Milliseconds between two checks for what other processes have embedded. */
const pollInterval = 5_000;

if (parentPort) void serve(parentPort, workerData as MeaningThreadData);

type Port = NonNullable<typeof parentPort>;

async function serve(port: Port, { place, embeddings: options }: MeaningThreadData): Promise<void> {
  const send = (answer: MeaningAnswer) => port.postMessage(answer);
  let index: Promise<MeaningIndex> | undefined;
  const open = () =>
    (index ??= openIndex().catch((error) => {
      index = undefined;
      throw error;
    }));
  const openIndex = async () => {
    const store = await openStore(place, (message) => send({ note: message }));
    const embeddings = createEmbeddings(options);
    const made = new MeaningIndex({
      store,
      embeddings,
      model: options.model,
      onChange: () => send({ changed: true }),
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
  const answer = async (request: MeaningRequest): Promise<unknown> => {
    switch (request.method) {
      case 'sync':
        return inTurn((opened) => opened.sync(request.documents));
      case 'put':
        return inTurn((opened) => opened.put(request.documents));
      case 'finish':
        return inTurn((opened) => opened.finish());
      case 'nearest':
        return (await open()).nearest(request.question, request);
      case 'close':
        clearInterval(poll);
        return (await index?.catch(() => undefined))?.close();
    }
  };
  port.on('message', async ({ id, request }: { readonly id: number; readonly request: MeaningRequest }) => {
    try {
      send({ id, value: await answer(request) });
    } catch (error) {
      send({ id, error: messageOf(error), isOfRunner: error instanceof EmbeddingsError });
    }
    if (request.method === 'close') port.close();
  });
}

async function openStore(
  { file, database }: MeaningThreadData['place'],
  note: (message: string) => void,
): Promise<VectorStore> {
  if (database !== undefined)
    return (await import('./postgresVectors.ts')).openPostgresVectors(database, note);
  return (await import('./sqliteVectors.ts')).openSqliteVectors(file);
}
