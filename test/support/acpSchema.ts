import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** Holds the messages of an agent to the schema that the protocol has published. */
export interface AcpSchema {
  /** A message of the client: the answer to a request is held to the request's method. */
  fromClient(message: unknown): void;
  /** What is wrong with a message of the agent; undefined where nothing is. */
  fromAgent(message: unknown): string | undefined;
}

interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Definition {
  readonly 'x-method'?: string;
}

let made: { readonly definitions: Readonly<Record<string, Definition>>; readonly ajv: Ajv2020 } | undefined;

/** Compiled once for all connections of a test file. */
function published() {
  if (made) return made;
  const schema = JSON.parse(
    readFileSync('test/fixtures/published/agent-client-protocol.schema.json', 'utf8'),
  );
  const ajv = new Ajv2020({
    ...{ strict: false, validateFormats: false, discriminator: false, validateSchema: false },
    // A check runs seldom: making it fast takes longer.
    code: { optimize: false },
  });
  ajv.addSchema(schema, 'acp');
  made = { definitions: schema.$defs, ajv };
  return made;
}

export function createAcpSchema(): AcpSchema {
  const { definitions, ajv } = published();
  const methods = new Map<string | number, string>();
  const checkOf = (name: string): ValidateFunction | undefined => ajv.getSchema(`acp#/$defs/${name}`);
  const nameOf = (method: string, ends: readonly string[]) =>
    Object.keys(definitions).find(
      (name) => definitions[name]?.['x-method'] === method && ends.some((end) => name.endsWith(end)),
    );
  const problemWith = (name: string | undefined, value: unknown): string | undefined => {
    const check = name === undefined ? undefined : checkOf(name);
    if (!check) return 'the protocol has no such message';
    return check(value) ? undefined : ajv.errorsText(check.errors);
  };
  const problemOf = ({ id, method, params, result, error }: Message): string | undefined => {
    if (method !== undefined) {
      const end = id === undefined ? ['Notification'] : ['Request'];
      return problemWith(nameOf(method, end), params);
    }
    if (error !== undefined) return problemWith('Error', error);
    const asked = methods.get(id ?? '');
    return asked === undefined
      ? 'it answers nothing that was asked'
      : problemWith(nameOf(asked, ['Response']), result ?? {});
  };
  return {
    fromClient(message) {
      const { id, method } = message as Message;
      if (id !== undefined && id !== null && method !== undefined) methods.set(id, method);
    },
    fromAgent(message) {
      const problem = problemOf(message as Message);
      return problem === undefined ? undefined : `${problem}: ${JSON.stringify(message).slice(0, 500)}`;
    },
  };
}
