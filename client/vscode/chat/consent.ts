import * as vscode from 'vscode';
import { createSharedWork } from '../../../protocol/base/keyedWork.ts';
import type { Model } from '../../../protocol/messages/models.ts';
import type { AskForRound } from './rounds.ts';

/** Whether prompts may go to a remote model. The user is asked once for each model and host. */
export type Consent = ReturnType<typeof createConsent>;

/** The hosts and names of the models that the user allowed. */
const memoryKey = 'runner.allowedRemotes';

export function createConsent(memory: vscode.Memento) {
  const didAllow = new vscode.EventEmitter<void>();
  const questions = createSharedWork<boolean>();
  const allowed = () => memory.get<readonly string[]>(memoryKey) ?? [];
  const ask = async (key: string, name: string, host: string) => {
    if (!(await askUser(name, host))) return false;
    await memory.update(memoryKey, [...allowed(), key]);
    didAllow.fire();
    return true;
  };
  return {
    onDidAllow: didAllow.event,
    /** A model on this machine needs no consent. */
    isAllowed: ({ remote }: Model) => remote === undefined || allowed().includes(keyOf(remote)),
    /** Asks the user, unless it is allowed already. */
    async request({ name, remote }: Model): Promise<boolean> {
      if (remote === undefined) return true;
      const key = keyOf(remote);
      if (allowed().includes(key)) return true;
      // Two questions at the same time share one dialog.
      return questions.join(key, () => ask(key, name, remote.host));
    },
    dispose: () => didAllow.dispose(),
  };
}

/** Sends nothing to a remote model before the user has allowed it. */
export function withConsent(
  ask: AskForRound,
  offered: { lookUp(name: string, server?: string): Promise<Model | undefined> },
  consent: Consent,
): AskForRound {
  return async (params, take, token) => {
    const model = await offered.lookUp(params.model, params.server);
    if (model && !(await consent.request(model)))
      throw vscode.LanguageModelError.NoPermissions(
        `Nothing was sent: ${model.name} runs at ${model.remote?.host}. Choose a model of your own, or ask again and allow it.`,
      );
    if (token.isCancellationRequested) throw new vscode.CancellationError();
    return ask(params, take, token);
  };
}

function keyOf({ host, model }: NonNullable<Model['remote']>): string {
  return `${host} ${model}`;
}

/** The editor gives its first button the focus, and the user may be typing: that button must send nothing. */
async function askUser(name: string, host: string): Promise<boolean> {
  const [another, send] = ['Choose Another Model', 'Send There'];
  const choice = await vscode.window.showWarningMessage(
    `${name} does not run on this machine. Send to ${host}?`,
    {
      modal: true,
      detail:
        'Conversations with this model go there, with everything attached to them. Once you allow it, the model picker offers this model too, and you are not asked again.',
    },
    another,
    send,
  );
  if (choice === another) await vscode.commands.executeCommand('runner.chooseChatModel');
  return choice === send;
}
