import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';

/** A built program, smaller. Where names are not shortened, stacks in the log keep the names of functions. */
export async function minified(file, { shortensNames }) {
  const { code } = await transform(readFileSync(file, 'utf8'), {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: shortensNames,
  });
  return code;
}
