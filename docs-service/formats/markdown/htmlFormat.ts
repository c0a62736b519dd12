import type { HtmlJob, Rendered } from '../renderJob.ts';
import { readAsset } from './assets.ts';
import { idsOf, markdownToHtml } from './html.ts';
import { parseMarkdown } from './markdown.ts';
import { createReferences, type ShownPicture } from './references.ts';

/**
 * A document as a fragment of XHTML. Its pictures are in it as `data:` addresses, so that a page needs no further
 * request, and no address of a picture that would have to be authorised.
 */
export function createHtml({ content, targets, document }: HtmlJob): Rendered {
  const markdown = parseMarkdown(document.body);
  const pictures = new DataPictures(content);
  const references = createReferences({
    path: document.path,
    ids: idsOf(markdown),
    documentAddress: (path, fragment) => {
      const target = Object.hasOwn(targets, path) ? targets[path] : undefined;
      return target !== undefined && fragment ? `${target}#${encodeURIComponent(fragment)}` : target;
    },
    picture: (path) => pictures.show(path),
    onForeignPicture: (href) =>
      pictures.note(`A picture of another place is left out: ${href.slice(0, 200)}`),
  });
  const bytes = new TextEncoder().encode(markdownToHtml(markdown, { references }));
  return { bytes, notes: pictures.notes };
}

class DataPictures {
  readonly #content: string;
  readonly #notes = new Set<string>();
  #space = maxBytes;

  constructor(content: string) {
    this.#content = content;
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }

  note(message: string): void {
    if (this.#notes.size < maxNotes) this.#notes.add(message);
  }

  /** A picture that is shown twice counts twice, as it is in the page twice. */
  show(path: string): ShownPicture | undefined {
    const asset = readAsset(this.#content, path);
    if (asset.kind === 'problem') {
      this.note(asset.message);
      return undefined;
    }
    if (asset.bytes.length > this.#space) {
      this.note(
        `The picture ${path} is left out, as all pictures of the page together have more than 20 MB.`,
      );
      return undefined;
    }
    this.#space -= asset.bytes.length;
    const type = asset.type === 'svg' ? 'svg+xml' : asset.type;
    const src = `data:image/${type};base64,${Buffer.from(asset.bytes).toString('base64')}`;
    return { src, width: asset.width, height: asset.height };
  }
}

const maxBytes = 20_000_000;
const maxNotes = 100;
