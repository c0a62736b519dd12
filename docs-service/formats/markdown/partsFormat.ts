import type { PartsJob, Rendered } from '../renderJob.ts';
import { markdownParts } from './markdownParts.ts';
import type { EncodedParts } from './partsReader.ts';
import { sanitiseMarkdown } from './sanitisedMarkdown.ts';

/** The Markdown with raw HTML sanitised, and where it may be cut, as JSON for `readParts`. */
export function createParts({ document }: PartsJob): Rendered {
  const markdown = sanitiseMarkdown(document.body);
  const { sections, blocks, lines } = markdownParts(markdown);
  const parts: EncodedParts = { markdown, sections, blocks: encode(blocks), lines: encode(lines) };
  return { bytes: new TextEncoder().encode(JSON.stringify(parts)), notes: [] };
}

/** A long document has a million lines: reading them as JSON text would take too long. */
function encode(places: readonly number[]): string {
  return Buffer.from(Uint32Array.from(places).buffer).toString('base64');
}
