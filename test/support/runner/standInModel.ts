import { type Fields, recordOf } from '../../../daemon/practice/exchange.ts';
import { installedEntry, shownModel } from '../../../daemon/practice/listing.ts';
import { type InstalledModel, type PracticeModel, practiceModel } from '../../../daemon/practice/model.ts';
import type { ScriptedSpeaker } from './scriptedSpeech.ts';

/** What models of a real runner may have beside what the practice runner's have. */
interface Extras {
  /** True leaves the capabilities out of lists and details, as old servers do. */
  readonly old?: boolean;
  /** Set for a stub that forwards its work to another host. */
  readonly remote?: { readonly host: string; readonly model: string };
  /** Milliseconds since 1970. Default: the time of its installation. */
  readonly modifiedAt?: number;
  /** Default: quotes the pages of the project, if there are any. */
  readonly speak?: ScriptedSpeaker;
}

/** A model of the stand-in. Everything except the name has a default. */
export interface StandInModel extends Partial<PracticeModel>, Extras {
  readonly name: string;
}

/** The template of initial models, which can chat unless they say otherwise. A created model keeps its own template. */
const turns = '{{ range .Messages }}{{ .Role }}: {{ .Content }}\n{{ end }}';

export function toPracticeModel(model: StandInModel): PracticeModel & Extras {
  return { ...practiceModel({ template: turns, ...model }), ...extrasOf(model) };
}

export function extrasOf(model: StandInModel): Extras {
  return model;
}

/** The entry of a list as a real runner has it for stubs and as old runners have it. */
export function listedEntry(model: InstalledModel): Fields {
  const { details, capabilities, ...entry }: Fields = installedEntry(model);
  const { remote, old } = extrasOf(model);
  const { context_length, embedding_length, ...kept } = recordOf(details);
  if (remote) return withHost(model, { ...entry, details: { ...noDetails, context_length }, capabilities });
  return { ...entry, details: old ? kept : details, ...(old ? {} : { capabilities }) };
}

/** The details of a model with all that a real runner says. */
export function shownDetails(model: InstalledModel): Fields {
  const { capabilities, modified_at, model_info: info, ...shown }: Fields = shownModel(model);
  const { remote, old } = extrasOf(model);
  return {
    ...shown,
    ...(remote
      ? { modelfile: String(shown['modelfile']).replace(/^FROM .*$/m, 'FROM '), details: noDetails }
      : {}),
    ...hostOf(model),
    model_info: remote ? {} : sorted({ ...recordOf(info), ...modelInfo }),
    ...(remote ? {} : { tensors }),
    ...(old ? {} : { capabilities }),
    modified_at,
  };
}

/** Lines and entries of a stub name its host after the model. */
export function withHost(installed: InstalledModel, { name, model, ...rest }: Fields): Fields {
  return { ...(name === undefined ? {} : { name }), model, ...hostOf(installed), ...rest };
}

function hostOf(model: InstalledModel): Fields {
  const { remote } = extrasOf(model);
  return remote ? { remote_model: remote.model, remote_host: remote.host } : {};
}

const noDetails = {
  parent_model: '',
  format: '',
  family: '',
  families: null,
  parameter_size: '',
  quantization_level: '',
};

function sorted(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The other keys of a real file. */
const modelInfo = {
  'general.file_type': 0,
  'practice.attention.head_count': 5,
  'practice.attention.head_count_kv': 5,
  'practice.attention.layer_norm_rms_epsilon': 1e-5,
  'practice.block_count': 1,
  'practice.feed_forward_length': 64,
  'practice.rope.dimension_count': 64,
  'practice.vocab_size': 294,
  'tokenizer.ggml.add_bos_token': false,
  'tokenizer.ggml.add_space_prefix': false,
  'tokenizer.ggml.bos_token_id': 1,
  'tokenizer.ggml.eos_token_id': 2,
  'tokenizer.ggml.model': 'llama',
  'tokenizer.ggml.scores': null,
  'tokenizer.ggml.token_type': null,
  'tokenizer.ggml.tokens': null,
  'tokenizer.ggml.unknown_token_id': 0,
};

const tensors = [
  { name: 'token_embd.weight', type: 'F32', shape: [320, 294] },
  { name: 'output_norm.weight', type: 'F32', shape: [320] },
];
