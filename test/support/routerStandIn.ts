import type { ServerResponse } from 'node:http';
import { type OpenaiStandIn, sendJson, startOpenaiStandIn } from './openaiStandIn.ts';
import { readRecordings } from './recordings.ts';

/** What the router's list says about one model. */
export interface RoutedModel {
  state: string;
  isRemovable?: boolean;
  failed?: boolean;
}

/** The router of llama.cpp in the states that a test gives it, with the answers and the events of a real one. */
export interface RouterStandIn extends OpenaiStandIn {
  readonly models: Map<string, RoutedModel>;
  /** Sends an event to whoever listens, or sends it once somebody does. */
  emit(event: object): void;
}

/** The events that a real router sent about one model, in their order. */
export function recordedEvents(
  name: '160-router-sse' | '175-download-sse',
  model: string,
): readonly object[] {
  return recordedText(name)
    .split('\n\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)))
    .filter((event) => event.model === model);
}

function recordedText(name: string): string {
  const found = readRecordings('recordings-openai').find(({ file }) => file === `${name}.json`);
  if (!found) throw new Error(`There is no recording ${name}.`);
  return found.response.chunks.map(({ text }) => text).join('');
}

export async function startRouterStandIn(
  models: Readonly<Record<string, RoutedModel>>,
): Promise<RouterStandIn> {
  const known = new Map(Object.entries(models));
  const listeners = new Set<ServerResponse>();
  const waiting: object[] = [];
  const recorded = JSON.parse(recordedText('136-router-models-loaded')).data;
  const [unloaded, loaded] = ['broken', 'plain'].map((id) =>
    recorded.find((one: { id: string }) => one.id === id),
  );
  const refuse = (response: ServerResponse, message: string) =>
    sendJson(response, 400, { error: { code: 400, message, type: 'invalid_request_error' } });
  const send = (response: ServerResponse, event: object) =>
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  const standIn = await startOpenaiStandIn(
    {
      'GET /props': (response, { path }) => {
        const model = new URL(path, 'http://x').searchParams.get('model');
        if (model === null) response.end(recordedText('129-router-props'));
        else if (known.get(model)?.state === 'loaded') response.end(recordedText('137-router-props-model'));
        else refuse(response, 'model is not loaded');
      },
      'GET /v1/models': (response) => {
        const data = [...known].map(([id, { state, failed, isRemovable = false }]) => ({
          ...(state === 'loaded' ? loaded : unloaded),
          id,
          can_remove: isRemovable,
          status: { value: state, args: [], ...(failed ? { failed, exit_code: 1 } : {}) },
        }));
        sendJson(response, 200, { object: 'list', data });
      },
      'GET /models/sse': (response) => {
        response.setHeader('content-type', 'text/event-stream');
        listeners.add(response);
        response.on('close', () => listeners.delete(response));
        for (const event of waiting.splice(0)) send(response, event);
      },
      'POST /models/load': (response, { body }) => {
        const model = known.get(String(body['model']));
        if (model?.state !== 'unloaded') return refuse(response, 'model is already running');
        model.state = 'loading';
        sendJson(response, 200, { success: true });
      },
      'POST /models/unload': (response, { body }) => {
        const state = known.get(String(body['model']))?.state;
        if (state === undefined || state === 'unloaded') return refuse(response, 'model is not running');
        sendJson(response, 200, { success: true });
      },
      'POST /models': (response, { body }) => {
        const name = String(body['model']);
        if (known.has(name)) return refuse(response, `model '${name}' already exists`);
        known.set(name, { state: 'downloading', isRemovable: true });
        sendJson(response, 200, { success: true });
      },
      'DELETE /models': (response, { path }) => {
        known.delete(new URL(path, 'http://x').searchParams.get('model') ?? '');
        sendJson(response, 200, { success: true });
      },
    },
    { server: 'llama.cpp' },
  );
  return {
    ...standIn,
    models: known,
    emit(event) {
      if (listeners.size === 0) waiting.push(event);
      for (const response of listeners) send(response, event);
    },
  };
}
