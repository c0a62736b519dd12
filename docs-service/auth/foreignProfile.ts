/** A token is good, and belongs to somebody who may not read here. */
export class ForeignProfile extends Error {
  override readonly name = 'ForeignProfile';

  constructor() {
    super('The token is good, but it belongs to somebody who may not read here.');
  }
}
