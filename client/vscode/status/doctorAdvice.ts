import type { EngineStatus } from '../../../protocol/messages/engine.ts';
import type { Model } from '../../../protocol/messages/models.ts';
import { errorDataOf } from '../convert/failure.ts';
import { idOf, isSameModel } from '../models/modelRow.ts';
import type { PageLine, PageSection } from '../ui/page.ts';
import {
  chooseAnotherModel,
  chooseChatModel,
  letPickerDecide,
  openModelPicker,
  openNamedSetting,
  pullModel,
  type Remedy,
  remediesFor,
  startModelHere,
} from '../ui/remedies.ts';

export interface AbleModels {
  /** The models that can chat. */
  readonly models: readonly Model[];
  /** The number of installed models. */
  readonly all: number;
  readonly isStale: boolean;
  readonly canPull: boolean;
}

/** Lines about the models to chat with. */
export function adviseOnModels({ models, all, isStale, canPull }: AbleModels): readonly PageLine[] {
  const tools = models.filter(({ capabilities }) => capabilities.tools.value !== false);
  const counts = `Models: ${all} installed, ${models.length} can chat, ${tools.length} may support tools`;
  const text = `${counts}${isStale ? ' (the last known list)' : ''}`;
  if (models.length === 0 && !canPull)
    return [{ text }, fix('Load a model that can chat in the program that serves the models.')];
  if (models.length === 0) return [{ text }, fix('Pull a model that can chat, such as qwen3:4b.', pullModel)];
  if (tools.length > 0) return [{ state: 'good', text }];
  const advice = `The agent lists only models with tools. Ask @runner, or ${canPull ? 'pull' : 'load'} a model with tools.`;
  return [{ text }, fix(advice, pullModel, chooseChatModel)];
}

/** Lines about the model of `@runner`; `wanted` is the setting. */
export function adviseOnChat(models: readonly Model[], wanted: string): readonly PageLine[] {
  if (wanted === '')
    return [
      {
        text: 'Chat: the model in the picker answers @runner. If the chat says "Language model unavailable", choose a model there.',
        links: [openModelPicker],
      },
    ];
  const found = `Chat: the setting runner.chatModel names ${wanted}`;
  if (
    !models.some(({ name, server }) =>
      isSameModel({ model: idOf({ model: name, server }) }, { model: wanted }),
    )
  )
    return [
      { text: found },
      fix(
        `${wanted} is not installed: pull it, or choose another model.`,
        pullOf(wanted),
        chooseAnotherModel,
        letPickerDecide,
      ),
    ];
  const links = [chooseAnotherModel, letPickerDecide];
  return [{ state: 'good', text: `${found}, which answers @runner whatever the picker shows`, links }];
}

/** Lines about the completion model; `wanted` is the setting. */
export function adviseOnCompletion(models: readonly Model[], wanted: string): readonly PageLine[] {
  if (wanted === '')
    return [{ text: 'Completion as you type: off', links: [{ ...choose, title: 'Switch It On' }] }];
  const model = models.find(({ name }) => isSameModel({ model: name }, { model: wanted }));
  const found = `Completion as you type: ${wanted}`;
  if (!model) {
    const advice = `${wanted} is not installed: pull it, or choose another model.`;
    return [{ text: found }, fix(advice, pullOf(wanted), choose)];
  }
  if (model.capabilities.insert.value === true)
    return [{ state: 'good', text: `${found}, which fills in the middle` }];
  return [{ text: `${found}, which the runner does not list as filling in the middle`, links: [choose] }];
}

/** What Runner has started or fetched on this machine; nothing if there is nothing. */
export function adviseOnEngine(status: EngineStatus): readonly PageSection[] {
  const { state, message, isInstalled, sample } = status;
  const fetched = [
    ...(isInstalled ? ['the engine'] : []),
    ...(sample === undefined ? [] : ['the small model']),
  ];
  if (state === 'stopped' && fetched.length === 0) return [];
  const stop = { title: 'Stop It', command: 'runner.stopModelHere' };
  const started: PageLine = {
    ...(state === 'down' && { state: 'bad' }),
    text: message,
    links: [state === 'running' ? stop : startModelHere],
  };
  const remove = { title: 'Delete', command: 'runner.removeFetched' };
  const there: PageLine = { text: `Fetched: ${fetched.join(' and ')}`, links: [remove] };
  return [{ heading: 'Started here', lines: [started, ...(fetched.length > 0 ? [there] : [])] }];
}

export const again: Remedy = { title: 'Try Again', command: 'runner.doctor' };

/** What to do about a server that could not be examined. */
export function adviseOnFailure(error: unknown): readonly Remedy[] {
  const remedies = openNamedSetting(error) ?? remediesFor(errorDataOf(error));
  return [again, ...remedies.filter(({ command }) => command !== again.command)];
}

const choose: Remedy = { title: 'Choose the Completion Model', command: 'runner.chooseCompletionModel' };

function pullOf(model: string): Remedy {
  return { title: `Pull ${model}`, command: 'runner.pullModel', arguments: [{ model }] };
}

function fix(text: string, ...links: readonly Remedy[]): PageLine {
  return { state: 'bad', text, links };
}
