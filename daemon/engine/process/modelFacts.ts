import type { LoadedModel } from './engineModel.ts';

/** What is known of the model once it has been loaded, also after it has left the memory. */
export interface ModelFacts {
  readonly window: number;
  /** The answer to `/props`. */
  readonly props: object;
  /** Its entry in `/v1/models`. */
  readonly entry: object;
}

export function factsOf({ llama, model, window, prompts }: LoadedModel, alias: string): ModelFacts {
  const { tools, calls, system, objectArguments, onlyParts } = prompts.abilities;
  const { bosString, eosString } = model.tokens;
  const parameters = (model.fileInfo.fullTensorInfo ?? []).reduce(
    (sum, { dimensions }) => sum + dimensions.reduce<number>((size, count) => size * Number(count), 1),
    0,
  );
  return {
    window,
    props: {
      default_generation_settings: { n_ctx: window },
      total_slots: 1,
      model_alias: alias,
      modalities: { vision: false, audio: false },
      chat_template: prompts.source,
      chat_template_caps: {
        supports_tools: tools,
        supports_tool_calls: calls,
        supports_system_role: system,
        supports_object_arguments: objectArguments,
        supports_string_content: !onlyParts,
      },
      bos_token: bosString ?? '',
      eos_token: eosString ?? '',
      // What the model writes is passed on as it is.
      parses_tool_calls: false,
      build_info: llama.llamaCppRelease.release,
    },
    entry: {
      id: alias,
      aliases: [alias],
      object: 'model',
      created: Math.floor(Date.now() / 1_000),
      // By this, and by the header of each answer, the engine is known to speak as llama.cpp's server does.
      owned_by: 'llamacpp',
      meta: {
        n_ctx: window,
        n_ctx_train: model.trainContextSize,
        n_embd: model.embeddingVectorSize,
        n_params: parameters,
        size: model.size,
        // Such as `llama 256M Q4_1`.
        ftype: model.typeDescription.split(' ').slice(2).join(' '),
      },
    },
  };
}
