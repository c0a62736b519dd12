import { EPub } from 'epub-gen-memory';
import { navigationDocument, ncxDocument } from './navigation.ts';
import { type BookContents, packageDocument } from './package.ts';
import { styleSheet } from './styleSheet.ts';

/**
 * Of epub-gen-memory, only the zip file with its `mimetype` entry and the order of the steps are used. The steps are
 * replaced: its own would fetch any address in a chapter, even that of a local file, write random ids and the time of
 * day, and drop attributes of ordinary Markdown.
 */
export class Book extends EPub {
  readonly #contents: BookContents;

  constructor(contents: BookContents) {
    const { title, language, authors } = contents.description;
    super(
      { title, author: [...authors], lang: language, date: contents.description.modified, css: styleSheet },
      [],
    );
    this.#contents = contents;
    this.uuid = contents.description.identifier;
  }

  async bytes(): Promise<Uint8Array> {
    await this.render();
    for (const entry of Object.values(this.zip.files)) entry.date = zipDate;
    return this.zip.generateAsync({
      type: 'uint8array',
      platform: 'UNIX',
      compression: 'DEFLATE',
      compressionOptions: { level: 6 },
    });
  }

  protected override async generateTemplateFiles(): Promise<void> {
    const { description, chapters } = this.#contents;
    this.#put('META-INF/container.xml', container);
    this.#put('OEBPS/content.opf', packageDocument(this.#contents));
    this.#put('OEBPS/toc.xhtml', navigationDocument(description, chapters));
    this.#put('OEBPS/toc.ncx', ncxDocument(description, chapters));
    this.#put('OEBPS/style.css', this.options.css);
    for (const { file, xhtml } of chapters) this.#put(`OEBPS/${file}`, xhtml);
  }

  protected override async downloadAllFonts(): Promise<void> {
    // The book has no fonts: readers choose their own.
  }

  protected override async downloadAllImages(): Promise<void> {
    for (const { file, picture } of this.#contents.pictures) {
      const isPacked = picture.type !== 'svg';
      this.#put(`OEBPS/${file}`, picture.bytes, isPacked ? 'STORE' : 'DEFLATE');
    }
  }

  protected override async makeCover(): Promise<void> {
    const { file, svg, xhtml } = this.#contents.cover;
    this.#put('OEBPS/cover.xhtml', xhtml);
    if (svg !== null) this.#put(`OEBPS/${file}`, svg);
  }

  #put(path: string, content: string | Uint8Array, compression: 'STORE' | 'DEFLATE' = 'DEFLATE'): void {
    this.zip.file(path, content, { createFolders: false, compression });
  }
}

/** The earliest date that a zip file can have. */
const zipDate = new Date('1980-01-01T00:00:00Z');

const container = `<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
`;
