import { formatBytes } from '../../../protocol/base/bytes.ts';
import { canChat } from '../../../protocol/messages/choice.ts';
import type { Model, ShowModelResult } from '../../../protocol/messages/models.ts';
import { shortWordOf } from '../../shared/capabilityWords.ts';
import { describeWindow } from '../convert/contextWindow.ts';
import type { Page, Section } from '../page/page.ts';
import { paramsOf } from './modelRow.ts';

/** Everything about one model, for a page. */
export function detailsOf(result: ShowModelResult): Page {
  const { model, parameters = {}, system, template, license, modelfile } = result;
  const row = paramsOf({ model: model.name, server: model.server });
  const links = [
    ...(canChat(model)
      ? [{ title: 'Chat with This Model', command: 'runner.chatWithModel', arguments: [row] }]
      : []),
    { title: 'Update', command: 'runner.updateModel', arguments: [row] },
    { title: 'Open Page', command: 'runner.openModelPage', arguments: [row] },
  ];
  const given = Object.entries(parameters).map(([name, value]) => [name, [value].flat().join(', ')] as const);
  return {
    title: model.name,
    sections: [
      { lines: [{ text: stateOf(model), links }] },
      { facts: factsOf(model) },
      ...(given.length > 0 ? [{ heading: 'Parameters', facts: given }] : []),
      ...text('System Prompt', system),
      ...text('Template', template),
      ...text('Modelfile', modelfile),
      ...text('License', license),
    ],
  };
}

function stateOf({ running, remote }: Model): string {
  if (remote) return `It runs at ${remote.host}.`;
  if (!running) return 'It is not loaded.';
  return `It is loaded and takes ${formatBytes(running.size)} of memory.`;
}

function factsOf(model: Model) {
  const { server, size, details, capabilities, modifiedAt, digest } = model;
  const able = Object.entries(capabilities).flatMap(([name, { value }]) =>
    value === true ? [shortWordOf(name)] : [],
  );
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ['Server', server],
    ['Size', size && formatBytes(size)],
    ['Parameters', details?.parameterSize],
    ['Quantization', details?.quantization],
    ['Family', details?.family],
    ['Capabilities', able.join(', ')],
    ['Window', describeWindow(model)],
    ['Modified', modifiedAt?.slice(0, 10)],
    ['Digest', digest?.slice(0, 12)],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, String(value)] as const] : []));
}

function text(heading: string, code: string | undefined): readonly Section[] {
  return code?.trim() ? [{ heading, code: code.trim() }] : [];
}
