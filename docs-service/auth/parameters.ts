import { OAuthError } from './oauthError.ts';

/**
 * The parameters of an OAuth request. One that comes twice is an error (RFC 6749, 3.1), but `resource` may (RFC 8707);
 * an empty one counts as left out.
 */
export class Parameters {
  readonly #values: URLSearchParams;
  readonly #longest: number;

  /** @param longest in characters, for each value */
  constructor(text: string, { longest = 2_048 }: { readonly longest?: number } = {}) {
    this.#values = new URLSearchParams(text);
    this.#longest = longest;
  }

  /** Throws OAuthError where it comes twice or is too long. */
  tryGet(name: string): string | undefined {
    const values = this.getAll(name);
    if (values.length > 1) throw new OAuthError('invalid_request', `${name} was given twice.`);
    return values[0];
  }

  /** Throws OAuthError where it is left out too. */
  get(name: string): string {
    const value = this.tryGet(name);
    if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`);
    return value;
  }

  getAll(name: string): readonly string[] {
    const values = this.#values.getAll(name).filter((value) => value !== '');
    if (values.some((value) => value.length > this.#longest))
      throw new OAuthError('invalid_request', `${name} is longer than ${this.#longest} characters.`);
    return values;
  }
}
