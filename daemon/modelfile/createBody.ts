import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { CreateRequestBody } from '../runner/client.ts';
import { tryParameterValue } from './checks.ts';
import type { Command } from './parser.ts';
import { parameterWords } from './vocabulary.ts';

/** The digests of files, by their relative names: `sha256:` and 64 hexadecimal digits. */
export type Digests = Readonly<Record<string, string>>;

export interface CreateParts {
  readonly model: string;
  readonly commands: readonly Command[];
  readonly from?: string;
  readonly files: Digests;
  readonly adapters: Digests;
  readonly drafts: Digests;
}

/** The commands that set one field of the request. The last of several counts. */
const fields: ReadonlyMap<string, string> = new Map([
  ['template', 'template'],
  ['system', 'system'],
  ['renderer', 'renderer'],
  ['parser', 'parser'],
]);

/** The body of `/api/create` for commands without mistakes. */
export function createBody({
  model,
  commands,
  from,
  files,
  adapters,
  drafts,
}: CreateParts): CreateRequestBody {
  const valuesOf = (name: string) =>
    commands.filter((command) => command.name === name).map(({ args }) => args);
  const single = [...fields].flatMap(([name, field]) => {
    const last = valuesOf(name).at(-1);
    return last ? [[field, last[0].text] as const] : [];
  });
  const requires = valuesOf('requires').at(-1)?.[0].text.replace(/^v/, '');
  const license = valuesOf('license').map(([{ text }]) => text);
  const messages = valuesOf('message').map(([role, content]) => ({
    role: role.text,
    content: content?.text ?? '',
  }));
  const parameters = parametersOf(
    valuesOf('parameter').map(([name, value]) => [name.text, value?.text ?? '']),
  );
  return withoutUndefined({
    model,
    from,
    ...withEntries({ files, adapters, draft_files: drafts, parameters }),
    ...Object.fromEntries(single),
    requires,
    ...(license.length === 0 ? {} : { license }),
    ...(messages.length === 0 ? {} : { messages }),
  });
}

/** The values in their types. A list parameter keeps all of its values, the others only the last one. */
function parametersOf(pairs: readonly (readonly [string, string])[]): Readonly<Record<string, unknown>> {
  const parameters = new Map<string, unknown>();
  const lists = new Map<string, unknown[]>();
  for (const [name, text] of pairs) {
    const word = parameterWords.get(name);
    // Unknown names were reported as problems before; deprecated ones are left out.
    if (!word) continue;
    const value = tryParameterValue(word.type, text);
    const list = lists.get(name) ?? [];
    list.push(value);
    lists.set(name, list);
    parameters.set(name, word.isList ? list : value);
  }
  return Object.fromEntries(parameters);
}

function withEntries(records: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(records).filter(([, record]) => Object.keys(record).length > 0));
}
