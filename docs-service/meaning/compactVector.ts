/**
 * A vector as it is kept: each number as a share of the largest one, in whole steps from -127 to 127. Its length does
 * not count, since meanings are compared by the angle alone. Both engines keep the same bytes, so that they give the
 * same order.
 */
export type CompactVector = Int8Array;

const steps = 127;

/** Undefined if nothing is left of it. */
export function compactVector(vector: Float32Array): CompactVector | undefined {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  if (largest === 0) return undefined;
  return Int8Array.from(vector, (number) => Math.round((number / largest) * steps));
}

/** The length of a vector in steps. */
export function lengthOf(vector: CompactVector): number {
  let sum = 0;
  for (const step of vector) sum += step * step;
  return Math.sqrt(sum);
}
