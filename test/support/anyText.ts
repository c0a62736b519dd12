import * as fc from 'fast-check';

const character = fc
  .oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point));

/** Text of all characters that there are. fast-check's own would first build a table of them, for a second. */
export const anyText = (limits: { readonly maxLength?: number } = {}) =>
  fc.string({ ...limits, unit: character });
