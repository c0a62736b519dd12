import * as vscode from 'vscode';
import {
  cloudRequest,
  libraryRequest,
  listModelsRequest,
  modelsDidChange,
  runningModelsRequest,
} from '../../../protocol/models.ts';
import { statusDidChange } from '../../../protocol/status.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { catalogRow, localRow, runningRow } from './modelRows.ts';
import { createModelView, type ModelViewOptions } from './modelView.ts';

/** The four views of models. */
export function createSidebar(daemon: DaemonConnection, memory: vscode.Memento): vscode.Disposable {
  const definitions: readonly Omit<ModelViewOptions, 'memory'>[] = [
    {
      id: 'runnerModelsLocalView',
      name: 'Local',
      load: async () => (await daemon.request(listModelsRequest, { refresh: true })).models.map(localRow),
    },
    {
      id: 'runnerModelsRunningView',
      name: 'Running',
      load: async () => {
        const { models } = await daemon.request(runningModelsRequest, {});
        return models.map((model) => runningRow(model, Date.now()));
      },
    },
    {
      id: 'runnerModelsLibraryView',
      name: 'Library',
      load: async () => {
        const { entries } = await daemon.request(libraryRequest, {});
        return entries.map((entry) => catalogRow(entry, 'library'));
      },
    },
    {
      id: 'runnerModelsCloudView',
      name: 'Cloud',
      load: async () => {
        const { entries } = await daemon.request(cloudRequest, {});
        return entries.map((entry) => catalogRow(entry, 'cloud'));
      },
    },
  ];
  const views = definitions.map((definition) => createModelView({ ...definition, memory }));
  const refresh = () => {
    for (const view of views) view.refresh();
  };
  return vscode.Disposable.from(
    ...views,
    daemon.onDidConnect(refresh),
    daemon.onNotification(modelsDidChange, refresh),
    daemon.onNotification(statusDidChange, refresh),
  );
}
