import { OAuthError } from './oauthError.ts';

/**
 * The parameters of an OAuth request. A repeated parameter is an error (RFC 6749, 3.1), except `resource` (RFC 8707).
 * An empty one counts as missing.
 */
export class Parameters {
  readonly #values: URLSearchParams;
  readonly #longest: number;

  /** @param longest in characters, for each value */
  constructor(text: string, { longest = 2_048 }: { readonly longest?: number } = {}) {
    this.#values = new URLSearchParams(text);
    this.#longest = longest;
  }

  /** Throws OAuthError if it is repeated or too long. */
  tryGet(name: string): string | undefined {
    const values = this.getAll(name);
    if (values.length > 1) throw new OAuthError('invalid_request', `${name} was given twice.`);
    return values[0];
  }

  /** Also throws OAuthError if it is missing. */
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
