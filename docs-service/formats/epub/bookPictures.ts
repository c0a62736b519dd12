import type { ContentPlaces } from '../../content/contentPlaces.ts';
import { type Asset, type Picture, pictureName, readAsset, type ShownPicture } from '../markdown/assets.ts';

export interface BookPicture {
  /** Relative to the folder of the chapters. */
  readonly file: string;
  readonly picture: Picture;
}

/** The pictures of one book. Each picture is stored once, under a name made from its content. */
export class BookPictures {
  readonly #byPath = new Map<string, BookPicture | undefined>();
  readonly #byFile = new Map<string, BookPicture>();
  readonly #notes = new Set<string>();
  #space = maxBytes;

  constructor(private readonly places: ContentPlaces) {}

  get all(): readonly BookPicture[] {
    return [...this.#byFile.values()];
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }

  note(message: string): undefined {
    if (this.#notes.size < maxNotes) this.#notes.add(message);
  }

  /** Undefined, with a note that says why, if the picture cannot be shown. */
  show(path: string): ShownPicture | undefined {
    const found = this.find(path);
    return found && { src: found.file, width: found.picture.width, height: found.picture.height };
  }

  /** @param path from the content folder */
  find(path: string): BookPicture | undefined {
    if (!this.#byPath.has(path)) this.#byPath.set(path, this.#add(path, readAsset(this.places, path)));
    return this.#byPath.get(path);
  }

  #add(path: string, asset: Asset): BookPicture | undefined {
    if (asset.kind === 'problem') return this.note(asset.message);
    const file = `images/${asset.hash.slice(0, 32)}.${asset.type === 'jpeg' ? 'jpg' : asset.type}`;
    const known = this.#byFile.get(file);
    if (known) return known;
    const tooMuch = 'is left out, because all pictures together have more than 100 MB.';
    if (asset.bytes.length > this.#space) return this.note(`The picture ${pictureName(path)} ${tooMuch}`);
    this.#space -= asset.bytes.length;
    const added = { file, picture: asset };
    this.#byFile.set(file, added);
    return added;
  }
}

/** 100 MB for all pictures, so that a book fits in the memory of a worker. */
const maxBytes = 100_000_000;
const maxNotes = 100;
