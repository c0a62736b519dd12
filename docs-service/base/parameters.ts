import { type TSchemaOptions, Type } from 'typebox';

interface PageSize {
  /** Results on a page if a request names no number. */
  readonly usual: number;
  readonly max: number;
}

/**
 * The parameters with which programs and agents turn the pages of a list. An offset may be any number, because a page
 * beyond the end is empty and no mistake.
 */
export function pageParameters({ usual, max }: PageSize) {
  return {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: max, default: usual, description: 'Results on a page.' }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'Results before this page.',
      }),
    ),
  };
}

/** One list of words, because generated clients make a type of each branch of a union. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  description: string,
  more: TSchemaOptions = {},
) {
  return Type.Unsafe<Word>({ type: 'string', enum: [...words], ...more, description });
}

/** What programs and agents are told of a search, beside what it found. */
export const searchFields = {
  allWords: Type.Optional(Type.Integer({ description: 'In a search: how many documents have all words.' })),
  corrected: Type.Optional(
    Type.Array(Type.Object({ written: Type.String(), meant: Type.String() }), {
      description: 'In a search: words that no document has, and what was searched for instead.',
    }),
  ),
  approximate: Type.Optional(
    Type.Boolean({ description: 'In a search: the commonest words were left out of it.' }),
  ),
};
