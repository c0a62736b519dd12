import { answerEmpty, answerJson, type Exchange } from './exchange.ts';
import { ApiFailure, badRequest, modelNotFound, quoted } from './failure.ts';
import { readFields, type Struct, textOf } from './fields.ts';
import { installedEntry, runningEntry } from './modelEntries.ts';
import { displayName, stubName, tryModelName } from './modelName.ts';
import { parseBody } from './requestBody.ts';

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
