import * as vscode from 'vscode';
import type { Model } from '../../../protocol/models.ts';
import { systemClock } from '../clock.ts';
import type { OfferedModels } from './offeredModels.ts';
import type { AskForTurn } from './turn.ts';

/** Names of models that the user allowed, each with its host. */
const memoryKey = 'runner.allowedRemotes';

/** Milliseconds for which a refusal counts: the editor's own chat asks several times for one question. */
const noHolds = 3_000;

/**
 * Asks the user before anything is sent to a model that runs elsewhere, once for each model and host. The editor itself
 * may choose one of the models that it is offered.
 */
export function withConsent(
  ask: AskForTurn,
  offered: Pick<OfferedModels, 'find' | 'refresh'>,
  memory: vscode.Memento,
): AskForTurn {
  const asking = new Map<string, Promise<boolean>>();
  const refusedAt = new Map<string, number>();
  const isAllowed = (name: string, { host, model }: NonNullable<Model['remote']>): Promise<boolean> => {
    const key = `${host} ${model}`;
    const allowed = () => memory.get<readonly string[]>(memoryKey) ?? [];
    if (allowed().includes(key)) return Promise.resolve(true);
    if (systemClock.now() - (refusedAt.get(key) ?? 0) < noHolds) return Promise.resolve(false);
    const answer =
      asking.get(key) ??
      askUser(name, host).then(async (isYes) => {
        if (isYes) await memory.update(memoryKey, [...allowed(), key]);
        else refusedAt.set(key, systemClock.now());
        return isYes;
      });
    asking.set(key, answer);
    return answer.finally(() => asking.delete(key));
  };
  return async (params, take, token) => {
    if (!offered.find(params.model, params.server)) await offered.refresh();
    const { remote, name } = offered.find(params.model, params.server) ?? {};
    if (remote && name && !(await isAllowed(name, remote)))
      throw vscode.LanguageModelError.NoPermissions(
        `Nothing was sent: ${name} runs at ${remote.host}. Choose a model of your own, or ask again and allow it.`,
      );
    if (token.isCancellationRequested) throw new vscode.CancellationError();
    return ask(params, take, token);
  };
}

async function askUser(name: string, host: string): Promise<boolean> {
  const send = 'Send There';
  const choice = await vscode.window.showWarningMessage(
    `${name} does not run on this machine. Send to ${host}?`,
    {
      modal: true,
      detail:
        'The conversation goes there, with everything attached to it. You are asked once for this model.',
    },
    send,
  );
  return choice === send;
}
