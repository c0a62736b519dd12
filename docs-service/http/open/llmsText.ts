import { count, cutText } from '../../../protocol/base/text.ts';
import type { DocumentMetadata } from '../../content/document.ts';
import { visibleText } from '../../formats/markdown/xmlText.ts';

/** A list of documents for models, as llmstxt.org describes it. */
export interface LlmsList {
  readonly title: string;
  readonly summary: string;
  /** In sentences of Markdown. */
  readonly about: string;
  readonly sections: AsyncIterable<LlmsSection>;
  readonly addressOf: (slug: string) => string;
}

/** The same with the texts of the documents. */
export interface LlmsTexts extends LlmsList {
  /** In Markdown. Undefined if there is no text to show. */
  readonly textOf: (slug: string) => Promise<string | undefined>;
}

export interface LlmsSection {
  readonly title: string;
  /** In pieces, so that a large library needs little memory. */
  readonly documents: AsyncIterable<readonly DocumentMetadata[]>;
}

/** In characters. A list is for choosing, and a description may have 5,000. */
const maxDescription = 300;

/** The file in pieces: a document once, in the first section that has it, and no section without documents. */
export async function* llmsText({ title, summary, about, sections, addressOf }: LlmsList) {
  yield `# ${literal(title)}\n\n> ${summary}\n\n${about}\n`;
  const listed = new Set<string>();
  for await (const section of sections) {
    let heading = `\n## ${literal(section.title)}\n\n`;
    for await (const documents of section.documents) {
      const fresh = documents.filter(({ slug, hidden }) => !hidden && !listed.has(slug));
      if (fresh.length === 0) continue;
      for (const { slug } of fresh) listed.add(slug);
      yield heading + fresh.map((document) => `${entry(document, addressOf)}\n`).join('');
      heading = '';
    }
  }
}

/** In UTF-16 units: about what the largest models read at once. */
const maxTexts = 2_000_000;

/** The documents one after another, in pieces, each once. What is beyond the limit is counted. */
export async function* llmsFullText({ title, summary, sections, addressOf, textOf }: LlmsTexts) {
  yield `# ${literal(title)}\n\n> ${summary}\n`;
  const listed = new Set<string>();
  let left = maxTexts;
  let more = 0;
  for await (const section of sections)
    for await (const documents of section.documents)
      for (const { slug, title: name, hidden } of documents) {
        if (hidden || listed.has(slug)) continue;
        listed.add(slug);
        const text = left > 0 ? await textOf(slug) : '';
        if (text === undefined) continue;
        left -= text.length;
        if (left <= 0) more += 1;
        else
          yield `\n${rule}\nTitle: ${literal(name) || slug}\nAddress: ${addressOf(slug)}\n\n${text.trim()}\n`;
      }
  if (more > 0)
    yield `\n${rule}\n${count(more, 'further document')} would be too much for one file: llms.txt names all of them.\n`;
}

const rule = '-'.repeat(80);

function entry(
  { slug, title, description, draft }: DocumentMetadata,
  addressOf: LlmsList['addressOf'],
): string {
  const link = `- [${literal(title) || literal(slug)}](${addressOf(slug)})`;
  const text = visibleText(description ?? '');
  const cut = cutText(text, maxDescription);
  const about = [draft ? 'a draft' : '', literal(cut) + (cut === text ? '' : '…')].filter(Boolean);
  return about.length === 0 ? link : `${link}: ${about.join('; ')}`;
}

/** Marks of direction, which turn the text around them. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u0085\u2028\u2029\u007f-\u009f]/g;
/** What Markdown and its usual extensions may read as more than text; bare addresses become links in some readers. */
const active = /[\\`*_[\]<>&~|#$]|!(?=\[)|:(?=\/\/)|@|(?<=\bwww)\.|^[-+=](?=\s|$|[-=])|(?<=^\d{1,9})[.)]/gi;

/** Text of one line that every reader of Markdown shows as it is. */
function literal(text: string): string {
  return visibleText(text.replace(directions, ' ')).replace(active, String.raw`\$&`);
}
