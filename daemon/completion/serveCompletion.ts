import type { ClientCapabilities, Connection } from 'vscode-languageserver/node';
import * as z from 'zod/mini';
import { stackOf } from '../../protocol/base/text.ts';
import {
  type CompletionAcceptedParams,
  completionAcceptedCommand,
  type InlineCompletionList,
  type InlineCompletionParams,
  inlineCompletionRequest,
} from '../../protocol/messages/completion.ts';
import { RunnerError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { type Commands, commandOf } from '../rpc/executeCommand.ts';
import { takesRegistration } from '../rpc/greeting.ts';
import { documentPositionFields, positionSchema as position } from '../rpc/languageServer.ts';
import type { StatusMonitor } from '../status/status.ts';
import type { Complete, Outcome } from './completion.ts';
import { SupersededError } from './inFlight.ts';
import { documentSelector } from './sendable.ts';
import type { Acceptances } from './suggestions.ts';

interface ServeCompletionDependencies {
  readonly complete: Complete;
  readonly acceptances: Acceptances;
  readonly status: StatusMonitor;
  /** The current settings; a change returns another value. */
  readonly settings: () => unknown;
  readonly log: Log;
}

/**
 * Answers requests for inline completion. Editors send one at every keystroke, so a request never fails: the answer is
 * null, and the log and the status say why. Returns the command that reports an acceptance.
 */
export function serveCompletion(endpoint: Endpoint, dependencies: ServeCompletionDependencies): Commands {
  const { complete, acceptances, log } = dependencies;
  const reporter = createReporter(dependencies);
  endpoint.onRequest(inlineCompletionRequest, inlineCompletionParamsSchema, async (params, signal) => {
    try {
      const outcome = await complete(params, signal);
      reporter.ended(outcome);
      return outcome.kind === 'item' ? listOf(outcome.item) : null;
    } catch (error) {
      if (error instanceof SupersededError) reporter.dropped(error.message);
      else if (signal.aborted) reporter.dropped('The request was cancelled.');
      else reporter.failed(error);
      return null;
    }
  });
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

/** Reports the outcome of a request in the log and the status. It never quotes the document or the answer. */
function createReporter({ status, settings, log }: ServeCompletionDependencies) {
  /**
   * The kinds of failure that were reported to the user, until something works or the settings change. A runner may
   * fail at every keystroke, and with other words each time.
   */
  const reported = new Set<string>();
  let reportedUnder = settings();
  const isNews = (kind: string) => {
    if (settings() !== reportedUnder) reported.clear();
    reportedUnder = settings();
    if (reported.has(kind)) return false;
    reported.add(kind);
    return true;
  };
  const dropped = (why: string) => log.debug(`No completion: ${why}`);
  return {
    dropped,
    ended(outcome: Outcome) {
      if (outcome.kind === 'dropped') return dropped(`${outcome.reason}.`);
      // A suggestion that was already known does not show that the runner works.
      if (outcome.kind === 'nothing' || outcome.isAnswer) {
        reported.clear();
        status.warn(undefined);
      }
      if (outcome.kind === 'nothing') dropped('nothing of the answer was worth showing.');
    },
    failed(error: unknown) {
      const isRunners = error instanceof RunnerError;
      const message = isRunners ? error.message : `A defect of the daemon: ${stackOf(error)}`;
      const isNew = isNews(isRunners ? error.kind : message);
      const report = !isNew ? log.debug : isRunners ? log.warn : log.error;
      report(`No completion: ${message}`);
      if (!isRunners) return;
      status.failed(error);
      // The status itself finds and reports that nothing answers at the address.
      if (isNew && error.kind !== 'server-unreachable') status.warn(message);
    },
  };
}

interface RegistrationOptions {
  /** Whether a completion model is currently set. */
  readonly isWanted: () => boolean;
  readonly log: Log;
  readonly closed: AbortSignal;
}

const id = 'runnerd-inline-completion';

/** If an editor supports dynamic registration, inline completion is registered only while there is a model for it. */
export function createRegistration(connection: Connection, options: RegistrationOptions) {
  const { isWanted, log, closed } = options;
  let isDynamic = false;
  let isRegistered = false;
  let isSettling = false;

  const send = async (): Promise<void> => {
    const { method } = inlineCompletionRequest;
    if (isWanted()) {
      const registrations = [{ id, method, registerOptions: { documentSelector } }];
      await connection.sendRequest('client/registerCapability', { registrations });
      isRegistered = true;
    } else {
      // LSP has this spelling.
      await connection.sendRequest('client/unregisterCapability', { unregisterations: [{ id, method }] });
      isRegistered = false;
    }
  };

  /** Sends one request after another until the registration is what the settings want. */
  const settle = async () => {
    isSettling = true;
    try {
      while (!closed.aborted && isWanted() !== isRegistered) await send();
    } catch (error) {
      if (!closed.aborted) log.warn(`The editor refused to register inline completion: ${String(error)}`);
    } finally {
      isSettling = false;
    }
  };

  return {
    /** Registers or unregisters, as the current settings say. */
    update(): void {
      if (isDynamic && !isSettling) void settle();
    },
    /** The editor's capabilities are known now. */
    start(editor: ClientCapabilities): void {
      isDynamic = takesRegistration(editor);
    },
  };
}

const inlineCompletionParamsSchema: Schema<InlineCompletionParams> = exact(
  z.object({
    ...documentPositionFields,
    context: z.exactOptional(
      z.object({
        triggerKind: z.int(),
        selectedCompletionInfo: z.exactOptional(
          z.object({ range: z.object({ start: position, end: position }), text: z.string() }),
        ),
      }),
    ),
  }),
);

const acceptedParamsSchema: Schema<CompletionAcceptedParams> = exact(z.object({ id: z.string() }));
