import type { Surroundings } from './surroundings.ts';

/** The surroundings once a text has been inserted that stands in for so many characters after the cursor. */
export function afterAcceptance(around: Surroundings, text: string, replaced: number): Surroundings {
  const prefix = around.prefix + text;
  const suffix = around.suffix.slice(replaced);
  const lines = text.split(/\r\n|\r|\n/);
  const last = lines.at(-1) ?? '';
  const { line, character } = around.position;
  return {
    ...around,
    offset: around.offset + text.length,
    position: {
      line: line + lines.length - 1,
      character: lines.length === 1 ? character + text.length : last.length,
    },
    prefix,
    suffix,
    linePrefix: lines.length === 1 ? around.linePrefix + text : last,
    lineSuffix: /^[^\r\n]*/.exec(suffix)?.[0] ?? '',
  };
}
