import type * as vscode from 'vscode';
import type { Clock } from '../shared/clock.ts';
import type { AnsweringModels } from './chat/answeringModel.ts';
import type { ThinkingPage } from './chat/answerWriter.ts';
import type { OfferedModels } from './chat/offeredModels.ts';
import type { AskForRound } from './chat/rounds.ts';
import type { DaemonConnection } from './daemon/connection.ts';
import type { RunnerChanges, ServerFactsStore } from './daemon/serverFacts.ts';
import type { ShownModels } from './models/modelRow.ts';
import type { InterruptedPulls, RunningPulls } from './models/pulls.ts';
import type { ErrorReporter } from './ui/errorReporter.ts';

/** The long-lived parts of the extension, which `extension.ts` makes once. Each feature names those that it takes. */
export interface Parts {
  readonly daemon: DaemonConnection;
  readonly log: vscode.LogOutputChannel;
  /** What is kept between windows. */
  readonly memory: vscode.Memento;
  readonly reporter: ErrorReporter;
  /** What the servers can do. */
  readonly facts: ServerFactsStore;
  readonly changes: RunnerChanges;
  /** The models in the editor's picker. */
  readonly offered: OfferedModels;
  /** Which of them answers `@runner`. */
  readonly models: AnsweringModels;
  /** Asks for a round of the user's. */
  readonly ask: AskForRound;
  /** The same for what the editor itself wants: waits for the requests of the user. */
  readonly askBehind: AskForRound;
  readonly thoughts: ThinkingPage;
  readonly pulls: RunningPulls;
  readonly interrupted: InterruptedPulls;
  /** The four views of models. */
  readonly sidebar: ShownModels;
  readonly clock: Clock;
}
