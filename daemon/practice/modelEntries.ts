import { goTime } from './json.ts';
import type { LoadedModel } from './loadedModels.ts';
import { blobPath, capabilitiesOf, contextLengthOf, layersOf, manifestDigest, weightsOf } from './model.ts';
import type { InstalledModel } from './modelStore.ts';

/** One entry of the list of installed models. Undefined fields are absent on the wire. */
export function installedEntry(model: InstalledModel): object {
  const lengths = {
    context_length: contextLengthOf(model),
    embedding_length: model.remote ? undefined : 320,
  };
  return {
    name: model.name,
    model: model.name,
    remote_model: model.remote?.model,
    remote_host: model.remote?.host,
    modified_at: goTime(model.modifiedAt),
    size: sizeOf(model),
    digest: manifestDigest(model),
    details: { ...detailsOf(model, parentOf(model)), ...(model.old ? {} : lengths) },
    capabilities: model.old ? undefined : capabilitiesOf(model),
  };
}

/** One entry of the list of loaded models, with the allocated window and without a parent. */
export function runningEntry({ model, window, expiresAt }: LoadedModel): object {
  return {
    name: model.name,
    model: model.name,
    size: sizeOf(model) * 2,
    digest: manifestDigest(model),
    details: detailsOf(model, ''),
    expires_at: goTime(expiresAt),
    size_vram: 0,
    context_length: window,
  };
}

export function detailsOf(model: InstalledModel, parent: string): object {
  if (model.remote) return { ...noDetails, family: model.family ?? '' };
  const { family = 'practice', parameterSize = '0', quantization = 'unknown' } = model;
  return {
    parent_model: parent,
    format: 'gguf',
    family,
    families: model.families === undefined ? [family] : model.families,
    parameter_size: parameterSize,
    quantization_level: quantization,
  };
}

export function parentOf(model: InstalledModel): string {
  return model.parent ?? blobPath(weightsOf(model));
}

function sizeOf(model: InstalledModel): number {
  return layersOf(model).reduce((sum, { size }) => sum + size, 0);
}

const noDetails = {
  parent_model: '',
  format: '',
  family: '',
  families: null,
  parameter_size: '',
  quantization_level: '',
};
