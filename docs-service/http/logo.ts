import { readFile, stat } from 'node:fs/promises';
import { UsageError } from '../base/options.ts';
import { tryPictureType } from '../formats/markdown/pictureType.ts';

/** In bytes. Every page contains the picture. */
const maxBytes = 100_000;

/** The picture that `--logo` names, as a `data:` address. Throws UsageError. */
export async function readLogo(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`--logo ${file} is not a file.`);
  if (found.size > maxBytes)
    throw new UsageError(
      `--logo ${file} has more than ${maxBytes / 1_000} KB. Every page contains it: make it smaller.`,
    );
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new UsageError(`--logo ${file} cannot be read.`, { cause });
  });
  const type = tryPictureType(bytes)?.type;
  if (type === 'png') return dataAddress('png', bytes);
  if (type !== 'svg') throw new UsageError(`--logo ${file} must be a PNG or an SVG.`);
  const { sanitiseSvg } = await import('../formats/markdown/svg.ts');
  const sanitised = sanitiseSvg(bytes.toString());
  if (sanitised === undefined)
    throw new UsageError(`--logo ${file} has parts that cannot be shown safely. Simplify it, or name a PNG.`);
  return dataAddress('svg+xml', Buffer.from(sanitised.text));
}

function dataAddress(type: string, bytes: Buffer): string {
  return `data:image/${type};base64,${bytes.toString('base64')}`;
}
