import { answerEmpty, answerJson, type Exchange } from './exchange.ts';
import { ApiFailure, badRequest, modelNotFound, quoted } from './failure.ts';
import { goTime } from './goFormats.ts';
import { blobPath, capabilitiesOf, contextLengthOf, layersOf, manifestDigest, weightsOf } from './model.ts';
import { displayName, stubName, tryModelName } from './modelName.ts';
import type { InstalledModel, LoadedModel } from './modelStore.ts';
import { parseBody, readFields, type Struct, textOf } from './requestBody.ts';

export function listModels({ response, runner }: Exchange): void {
  answerJson(response, { models: runner.store.list().map(installedEntry) });
}

export function listRunning({ response, runner }: Exchange): void {
  answerJson(response, { models: runner.loaded.list().map(runningEntry) });
}

/** The route in the specification that stops a model. A real runner does not have it. */
export function stopModel({ response, runner, tail }: Exchange): void {
  const model = runner.store.find(tail);
  if (!model) throw modelNotFound(tail);
  runner.loaded.unload(model);
  answerJson(response, {});
}

const copyRequest: Struct = { name: 'CopyRequest', fields: { source: 'string', destination: 'string' } };

export function copyModel({ response, runner, text }: Exchange): void {
  const { source, destination } = readFields(parseBody(text), copyRequest);
  for (const [role, name] of Object.entries({ source, destination }))
    if (!tryModelName(textOf(name))) throw badRequest(`${role} ${quoted(textOf(name))} is invalid`);
  const model = runner.store.find(textOf(source));
  if (!model) throw new ApiFailure(404, `model ${quoted(textOf(source))} not found`);
  runner.store.install({ ...model, name: textOf(destination), modifiedAt: runner.clock.now() });
  answerEmpty(response, 200);
}

const deleteRequest: Struct = { name: 'DeleteRequest', fields: { model: 'string', name: 'string' } };

/** A loaded model may be deleted. It stays loaded until it expires. */
export function deleteModel({ response, runner, text }: Exchange): void {
  const { model, name } = readFields(parseBody(text), deleteRequest);
  const asked = textOf(model) || textOf(name);
  const parsed = tryModelName(asked);
  if (!parsed) throw badRequest(`name ${quoted(asked)} is invalid`);
  if (!runner.store.remove(stubName(asked))) throw modelNotFound(shownAs(asked, displayName(parsed)));
  answerEmpty(response, 200);
}

/** The recorded text has the name without a tag if the request has none. */
function shownAs(asked: string, display: string): string {
  return asked.includes(':') ? display : asked;
}

/** One entry of the list of installed models. Undefined fields are absent on the wire. */
function installedEntry(model: InstalledModel): object {
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
function runningEntry({ model, window, expiresAt }: LoadedModel): object {
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
