/** What a validator found: a keyword of JSON Schema, and what its schema says there. */
export interface Finding {
  readonly keyword: string;
  /** The type that was expected, for `type`. */
  readonly type?: string;
  /** For `minimum`, `maximum`, `minLength` and `maxLength`. */
  readonly limit?: number;
  /** For `enum`. */
  readonly values?: readonly unknown[];
}

/**
 * What was expected, as the end of a sentence that begins with what is wrong, such as `must be a whole number`. The
 * value itself is never named, because it may be a secret. Undefined if there are no words for the keyword.
 */
export function expectationOf({ keyword, type = '', limit, values = [] }: Finding): string | undefined {
  switch (keyword) {
    case 'type':
      return `must be ${kinds[type] ?? `of the type ${type}`}`;
    case 'enum':
      return `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    default:
      return undefined;
  }
}

/** The names of types in JSON Schema and in zod, in plain words. */
const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
};
