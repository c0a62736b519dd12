/** A valid token of a person who may not read here. */
export class ForeignProfile extends Error {
  override readonly name = 'ForeignProfile';

  constructor() {
    super('The token is valid, but it belongs to somebody who may not read here.');
  }
}
