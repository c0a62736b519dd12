import type * as vscode from 'vscode';
import { showModelRequest } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { ServerFacts } from '../daemon/serverFacts.ts';
import { createWebPage } from '../ui/webPage.ts';
import { detailsOf } from './modelDescriptions.ts';
import { isSameModel, type ModelRow, paramsOf } from './modelRow.ts';

/** The tab with the details of one model. */
export interface DetailsPage extends vscode.Disposable {
  show(row: ModelRow): Promise<void>;
  /** The model has another name, which the page has from its next change on. */
  follow(row: ModelRow, to: ModelRow): void;
}

export function createDetailsPage(
  daemon: DaemonConnection,
  onDidChange: vscode.Event<void>,
  facts: ServerFacts,
): DetailsPage {
  const page = createWebPage('runner.model', onDidChange);
  let shown: { row: ModelRow } | undefined;
  return {
    async show(row) {
      const wanted = { row };
      await page.show(async () =>
        detailsOf(await daemon.request(showModelRequest, paramsOf(wanted.row)), facts),
      );
      shown = wanted;
    },
    follow(row, to) {
      if (shown && isSameModel(shown.row, row)) shown.row = to;
    },
    dispose: () => page.dispose(),
  };
}
