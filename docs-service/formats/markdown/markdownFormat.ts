import type { MarkdownJob, Rendered } from '../renderJob.ts';
import { sanitiseMarkdown } from './sanitisedMarkdown.ts';

/** The Markdown as it was written, with raw HTML sanitised. */
export function createMarkdown({ document }: MarkdownJob): Rendered {
  return { bytes: new TextEncoder().encode(sanitiseMarkdown(document.body)), notes: [] };
}
