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
