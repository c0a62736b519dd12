import { formatBytes } from '../../../protocol/base/bytes.ts';

/**
 * About how many bytes a model of a size such as `8b`, `270m` or `8x7b` takes: a library's usual quantization has some
 * 0.6 bytes for each parameter. Undefined for a size that says nothing, such as `latest`.
 */
function bytesOf(size: string): number | undefined {
  const [, experts = '1', count, unit = ''] =
    /^e?(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)([bmt])$/i.exec(size) ?? [];
  if (count === undefined) return undefined;
  const units: Readonly<Record<string, number>> = { m: 1e6, b: 1e9, t: 1e12 };
  return Number(experts) * Number(count) * (units[unit.toLowerCase()] ?? 0) * 0.62;
}

/** Such as `about 5.0 GB`. `memory` is what the runner's machine has, in bytes; undefined if that is not known. */
export function describeNeed(size: string, memory: number | undefined): string {
  const bytes = bytesOf(size);
  if (bytes === undefined) return '';
  // A window and the system take their part besides.
  const isTooLarge = memory !== undefined && bytes * 1.1 > memory;
  return `about ${formatBytes(bytes)}${isTooLarge ? ', more memory than this machine has' : ''}`;
}
