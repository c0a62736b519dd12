import {
  completionAcceptedCommand,
  type InlineCompletionList,
  inlineCompletionRequest,
} from '../../protocol/completion.ts';
import { orAborted } from '../abort.ts';
import { RunnerError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Commands, commandOf } from '../rpc/commands.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { StatusMonitor } from '../status/status.ts';
import type { Acceptances } from './acceptances.ts';
import type { Complete, Outcome } from './completion.ts';
import { createNewest, Superseded } from './newest.ts';
import { acceptedParamsSchema, inlineCompletionParamsSchema } from './params.ts';

export interface CompletionParts {
  readonly complete: Complete;
  readonly acceptances: Acceptances;
  readonly status: StatusMonitor;
  /** Another value once they changed. */
  readonly settings: () => unknown;
  readonly log: Log;
}

/** What `initialize` announces. */
export const completionCommands: readonly string[] = [completionAcceptedCommand];

/**
 * Inline completion is asked for at every key, so that nothing of it is ever an error to the editor: it answers null,
 * and the log and the status say why. Returned is the command that tells of an acceptance.
 */
export function serveCompletion(endpoint: Endpoint, parts: CompletionParts): Commands {
  const { complete, acceptances, log } = parts;
  const newest = createNewest();
  const teller = createTeller(parts);
  endpoint.onRequest(inlineCompletionRequest, inlineCompletionParamsSchema, (params, requested) =>
    newest.run(params.textDocument.uri, requested, async (signal) => {
      try {
        signal.throwIfAborted();
        const outcome = await orAborted(complete(params, signal), signal);
        teller.ended(outcome);
        return outcome.kind === 'item' ? listOf(outcome.item) : null;
      } catch (error) {
        if (signal.aborted) teller.aborted(signal.reason);
        else if (error instanceof Superseded) teller.aborted(error);
        else teller.failed(error);
        return null;
      }
    }),
  );
  return [
    commandOf(completionAcceptedCommand, acceptedParamsSchema, async ({ id }) => {
      acceptances.accept(id);
      log.debug(`${acceptances.accepted} of ${acceptances.offered} suggestions were accepted.`);
      return {};
    }),
  ];
}

function listOf(item: InlineCompletionList['items'][number]): InlineCompletionList {
  return { items: [item] };
}

/** Says in the log and by the status what came of a request; of the text it says nothing. */
function createTeller({ status, settings, log }: CompletionParts) {
  /**
   * What was said aloud, by its kind, until something works or the settings are others: a runner may fail at every key,
   * and in other words each time.
   */
  const said = new Set<string>();
  let saidUnder = settings();
  const isNews = (kind: string) => {
    if (settings() !== saidUnder) said.clear();
    saidUnder = settings();
    if (said.has(kind)) return false;
    said.add(kind);
    return true;
  };
  return {
    ended(outcome: Outcome) {
      if (outcome.kind === 'dropped') return log.debug(`No completion: ${outcome.reason}.`);
      // What was known already says nothing of the runner.
      if (outcome.kind === 'nothing' || outcome.isAnswer) {
        said.clear();
        status.advise(undefined);
      }
      if (outcome.kind === 'nothing') log.debug('No completion: nothing of the answer was worth showing.');
    },
    aborted(reason: unknown) {
      const why = reason instanceof Superseded ? reason.message : 'The request was cancelled.';
      log.debug(`No completion: ${why}`);
    },
    failed(error: unknown) {
      const isRunners = error instanceof RunnerError;
      const message = isRunners ? error.message : `A defect of the daemon: ${stackOf(error)}`;
      const isNew = isNews(isRunners ? error.kind : message);
      const say = !isNew ? log.debug : isRunners ? log.warn : log.error;
      say(`No completion: ${message}`);
      if (!isRunners) return;
      status.failed(error);
      // That nothing answers at the address, the status finds out and says by itself.
      if (isNew && error.kind !== 'server-unreachable') status.advise(message);
    },
  };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
