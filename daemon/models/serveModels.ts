import { lifecycleCommands } from '../../protocol/messages/completion.ts';
import {
  chatModelRequest,
  chooseChatModelRequest,
  type DeleteModelParams,
  deleteModelRequest,
  listModelsRequest,
  type ModelParams,
  type PullModelParams,
  pullModelRequest,
  type RunModelParams,
  runModelRequest,
  runningModelsRequest,
  showModelRequest,
  stopModelRequest,
} from '../../protocol/messages/models.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { type Commands, commandOf } from '../rpc/executeCommand.ts';
import type { Works } from '../rpc/workDoneProgress.ts';
import type { LoadOptions } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';
import type { ChatModels } from './chatModel.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { ModelPlaces } from './modelPlaces.ts';
import type { Models } from './models.ts';
import {
  deleteParamsSchema,
  listParamsSchema,
  modelParamsSchema,
  pullParamsSchema,
  runParamsSchema,
  serverParamsSchema,
} from './params.ts';

export interface ModelsDependencies {
  readonly models: Models;
  readonly chatModels: ChatModels;
  readonly lifecycle: Lifecycle;
  readonly servers: Servers;
  readonly places: ModelPlaces;
  readonly works: Works;
  /** How models are loaded if a request does not say it. */
  readonly loadOptions: () => LoadOptions;
}

/**
 * Answers the requests about models. Returns the lifecycle also as commands, for editors that cannot send other
 * requests.
 */
export function serveModels(endpoint: Endpoint, dependencies: ModelsDependencies): Commands {
  serveLists(endpoint, dependencies);
  const { lifecycle, places } = dependencies;
  const pull = async ({ workDoneToken: token, ...params }: PullModelParams, requested: AbortSignal) => {
    const { runner, model } = await places.place(params, requested);
    const work = { title: `Pulling ${model}`, token, signal: requested };
    await dependencies.works.run(work, (report, signal) => lifecycle.pull(runner, model, { report, signal }));
    return { model };
  };
  const run = async ({ keepAlive, ...params }: RunModelParams, signal: AbortSignal) => {
    const { runner, model } = await places.find(params, signal);
    const given = keepAlive === undefined ? {} : { keepAlive };
    const options = { ...dependencies.loadOptions(), ...given };
    return { model: await lifecycle.run(runner, model, options, signal) };
  };
  const stop = async (params: ModelParams, signal: AbortSignal) => {
    const { runner, model } = await places.find(params, signal);
    await lifecycle.stop(runner, model, signal);
    return {};
  };
  // A model of another server is deleted only if the name says which one.
  const remove = async ({ stop: stops = false, ...params }: DeleteModelParams, signal: AbortSignal) => {
    const { runner, model } = await places.place(params, signal);
    await lifecycle.remove(runner, model, stops, signal);
    return {};
  };
  endpoint.onRequest(pullModelRequest, pullParamsSchema, pull);
  endpoint.onRequest(runModelRequest, runParamsSchema, run);
  endpoint.onRequest(stopModelRequest, modelParamsSchema, stop);
  endpoint.onRequest(deleteModelRequest, deleteParamsSchema, remove);

  return [
    commandOf(lifecycleCommands.pull, pullParamsSchema, pull),
    commandOf(lifecycleCommands.run, runParamsSchema, run),
    commandOf(lifecycleCommands.stop, modelParamsSchema, stop),
    commandOf(lifecycleCommands.delete, deleteParamsSchema, remove),
  ];
}

/** What is asked about models. */
function serveLists(
  endpoint: Endpoint,
  {
    models,
    chatModels,
    servers,
    places,
  }: Pick<ModelsDependencies, 'models' | 'chatModels' | 'servers' | 'places'>,
): void {
  endpoint.onRequest(
    listModelsRequest,
    listParamsSchema,
    async ({ server, everywhere, ...choice }, signal) => {
      if (everywhere) return places.list(choice, signal);
      return models.list(await servers.runner(server, signal), choice, signal);
    },
  );
  endpoint.onRequest(chatModelRequest, serverParamsSchema, async ({ server }, signal) =>
    server === undefined
      ? chatModels.findAnywhere(signal)
      : chatModels.find(await servers.runner(server, signal), signal),
  );
  endpoint.onRequest(chooseChatModelRequest, modelParamsSchema, async (params) => {
    await chatModels.choose(params);
    return {};
  });
  endpoint.onRequest(runningModelsRequest, serverParamsSchema, async ({ server }, signal) => ({
    models: await models.running(await servers.runner(server, signal), signal),
  }));
  endpoint.onRequest(showModelRequest, modelParamsSchema, async (params, signal) => {
    const { runner, model } = await places.find(params, signal);
    return models.show(runner, model, signal);
  });
}
