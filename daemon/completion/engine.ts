import type { TextDocuments } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Core } from '../core.ts';
import { type Acceptances, createAcceptances } from './acceptances.ts';
import { followActivity } from './activity.ts';
import { createAsking } from './asking.ts';
import { type Complete, createCompletion } from './completion.ts';
import { createEditedDocuments } from './edits.ts';
import { createNeighbours } from './neighbours.ts';
import type { Wait } from './pause.ts';
import { createSendable } from './sendable.ts';
import { createWarming, isLoadedAs } from './warming.ts';

/** Inline completion in the documents of one editor: its parts, put together. */
export interface CompletionEngine {
  /** What the editor has open; somebody must make them listen to it. */
  readonly documents: TextDocuments<TextDocument>;
  readonly complete: Complete;
  readonly acceptances: Acceptances;
  /** Somebody wants the runner: what nobody waits for ends. */
  giveWay(): void;
  /** What is under way holds no longer, such as after a change of the settings. */
  stop(): void;
}

export interface EngineOptions {
  readonly core: Pick<Core, 'configuration' | 'servers' | 'knowledge' | 'models' | 'status' | 'log'>;
  /** In ms. */
  readonly now: () => number;
  readonly wait: Wait;
  readonly closed: AbortSignal;
}

export function createCompletionEngine({ core, now, wait, closed }: EngineOptions): CompletionEngine {
  const { configuration, servers, knowledge, models, status, log } = core;
  const settings = () => configuration.current;
  const exclude = () => settings().exclude;
  const whyNotSendable = createSendable(exclude);
  const acceptances = createAcceptances();
  const { documents, lastEdit } = createEditedDocuments();
  const activity = followActivity(documents, now);
  const open = {
    document: (uri: string) => documents.get(uri),
    onDidClose: (close: (uri: string) => void) =>
      void documents.onDidClose(({ document }) => close(document.uri)),
  };
  const { ask, warm } = createAsking({
    client: () => servers.client(),
    ...{ settings, knowledge, learn: models.learn },
    neighbours: createNeighbours({ ...open, activity, whyNotSendable, exclude }),
  });
  const common = {
    ...{ ...open, whyNotSendable, wait },
    model: () => settings().completionModel,
    isIdle: () => !status.isWorking,
  };
  const warming = createWarming({
    ...{ ...common, warm, log },
    isLoaded: async (model, signal) =>
      isLoadedAs(await models.running(servers.client(), signal), { ...settings(), model }),
  });
  documents.onDidChangeContent(({ document: { uri } }) => warming.arrive(uri, lastEdit(uri)));
  open.onDidClose(warming.leave);
  const completion = createCompletion({
    ...{ ...common, acceptances, now, ask: warming.observe(ask) },
    ...{ restedFor: activity.restedFor, gaps: activity.gaps },
  });
  const stop = () => {
    warming.stop();
    completion.stop();
  };
  closed.addEventListener('abort', stop, { once: true });
  return {
    ...{ documents, acceptances, stop },
    giveWay() {
      warming.stop();
      completion.giveWay();
    },
    complete(params, signal) {
      warming.arrive(params.textDocument.uri, params.position);
      return completion.complete(params, signal);
    },
  };
}
