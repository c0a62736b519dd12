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
import type { Models } from './models.ts';
import {
  deleteParamsSchema,
  listParamsSchema,
  modelParamsSchema,
  pullParamsSchema,
  runParamsSchema,
  serverParamsSchema,
} from './params.ts';
import type { Pulls } from './pulls.ts';

export interface ModelsDependencies {
  readonly models: Models;
  readonly chatModels: ChatModels;
  readonly lifecycle: Lifecycle;
  readonly pulls: Pulls;
  readonly servers: Servers;
  readonly works: Works;
  /** How models are loaded if a request does not say it. */
  readonly loadOptions: () => LoadOptions;
}

/**
 * Answers the requests about models. Returns the lifecycle also as commands, for editors that cannot send other
 * requests.
 */
export function serveModels(endpoint: Endpoint, dependencies: ModelsDependencies): Commands {
  const { models, lifecycle, servers } = dependencies;
  endpoint.onRequest(
    listModelsRequest,
    listParamsSchema,
    async ({ server, refresh = false, examine = false }, signal) =>
      models.list(await servers.runner(server, signal), { refresh, examine }, signal),
  );
  endpoint.onRequest(chatModelRequest, serverParamsSchema, async ({ server }, signal) =>
    dependencies.chatModels.find(await servers.runner(server, signal), signal),
  );
  endpoint.onRequest(chooseChatModelRequest, modelParamsSchema, async ({ server, model }) => {
    await dependencies.chatModels.choose(servers.server(server), model);
    return {};
  });
  endpoint.onRequest(runningModelsRequest, serverParamsSchema, async ({ server }, signal) => ({
    models: await models.running(await servers.runner(server, signal), signal),
  }));
  endpoint.onRequest(showModelRequest, modelParamsSchema, async ({ server, model }, signal) =>
    models.show(await servers.runner(server, signal), model, signal),
  );

  const pull = async ({ server, model, workDoneToken: token }: PullModelParams, requested: AbortSignal) => {
    const runner = await servers.runner(server, requested);
    const work = { title: `Pulling ${model}`, token, signal: requested };
    await dependencies.works.run(work, (report, signal) =>
      dependencies.pulls.pull(runner, model, { report, signal }),
    );
    return { model };
  };
  const run = async ({ server, model, keepAlive }: RunModelParams, signal: AbortSignal) => {
    const given = keepAlive === undefined ? {} : { keepAlive };
    const options = { ...dependencies.loadOptions(), ...given, signal };
    return { model: await lifecycle.run(await servers.runner(server, signal), model, options) };
  };
  const stop = async ({ server, model }: ModelParams, signal: AbortSignal) => {
    await lifecycle.stop(await servers.runner(server, signal), model, signal);
    return {};
  };
  const remove = async ({ server, model, stop: stops = false }: DeleteModelParams, signal: AbortSignal) => {
    await lifecycle.remove(await servers.runner(server, signal), model, { stop: stops, signal });
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
