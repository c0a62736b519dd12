import { decoded } from '../base/filePrivacy.ts';
import type { TextSource } from './cursorContext.ts';
import type { OpenDocuments } from './openDocuments.ts';
import type { WhyNotSendable } from './sendable.ts';
import type { CompletionPoint } from './suggestions.ts';
import { commentMarks } from './syntax.ts';

interface NeighboursOptions {
  readonly documents: Pick<OpenDocuments, 'document' | 'onDidClose' | 'recent'>;
  readonly whyNotSendable: WhyNotSendable;
  /** The globs in the current configuration. */
  readonly exclude: () => readonly string[];
}

/** How many files are quoted, and how many characters of each: about 700 tokens in total. */
const maxFiles = 3;
const maxOfFile = 700;
/** A quote begins this many lines before the last cursor in its file. */
const linesBefore = 6;
/** For how many files the last cursor is remembered. */
const maxCursors = 200;

/**
 * The text of other open files. A model needs it to know what they declare.
 *
 * Quotes the files that were opened or changed last, the newest nearest to the cursor. They are chosen when the user
 * starts in another file, and stay the same until one of them is closed. The runner has evaluated them, and would have
 * to evaluate them again after every change.
 */
export class Neighbours {
  readonly #options: NeighboursOptions;
  /** The line of the last cursor, by address. */
  readonly #lines = new Map<string, number>();
  #current: NeighbourChoice | undefined;
  /** The choice for a file that was warmed. */
  #ahead: NeighbourChoice | undefined;

  constructor(options: NeighboursOptions) {
    this.#options = options;
    options.documents.onDidClose((uri) => {
      this.#lines.delete(uri);
      const isGone = (chosen: NeighbourChoice | undefined) => chosen?.uri === uri || chosen?.files.has(uri);
      if (isGone(this.#current)) this.#current = undefined;
      if (isGone(this.#ahead)) this.#ahead = undefined;
    });
  }

  /**
   * The text for the top of a prompt, as comments in the language of the place; `""` means none. `isWarming` means that
   * nobody asks at the place yet, so the text that was chosen for another file stays.
   */
  textFor(place: CompletionPoint, isWarming: boolean): Promise<string> {
    if (isWarming) {
      this.#ahead = this.#chosenFor(place, this.#ahead);
      return this.#ahead.text;
    }
    const lines = this.#lines;
    lines.delete(place.uri);
    lines.set(place.uri, place.around.position.line);
    if (lines.size > maxCursors) lines.delete(lines.keys().next().value ?? '');
    this.#current = this.#chosenFor(place, this.#current, this.#ahead);
    return this.#current.text;
  }

  /** The first of these that was chosen for this place, otherwise a new one. */
  #chosenFor(place: CompletionPoint, ...known: readonly (NeighbourChoice | undefined)[]): NeighbourChoice {
    const { uri } = place;
    const { languageId } = place.around;
    const exclude = this.#options.exclude();
    const isSame = (chosen: NeighbourChoice | undefined) =>
      chosen?.uri === uri && chosen.languageId === languageId && chosen.exclude === exclude;
    const found = known.find(isSame);
    if (found) return found;
    const files = new Set<string>();
    return { uri, languageId, exclude, files, text: this.#choose(place, files) };
  }

  async #choose({ uri: here, around }: CompletionPoint, files: Set<string>): Promise<string> {
    const [mark] = commentMarks(around.languageId);
    if (mark === undefined) return '';
    const quotes: string[] = [];
    for (const uri of this.#options.documents.recent()) {
      if (quotes.length === maxFiles) break;
      if (uri === here) continue;
      files.add(uri);
      const quote = await this.#quoteOf(uri);
      if (quote === undefined) files.delete(uri);
      else quotes.unshift(quote);
    }
    return quotes.length === 0 ? '' : `${commented(quotes.join('\n\n'), mark)}\n\n`;
  }

  async #quoteOf(uri: string): Promise<string | undefined> {
    const { documents, whyNotSendable } = this.#options;
    const source = documents.document(uri);
    if (!source || (await whyNotSendable(uri)) !== undefined) return undefined;
    const from = Math.max(0, (this.#lines.get(uri) ?? 0) - linesBefore);
    const quote = wholeLines(source, from);
    return quote === '' ? undefined : `${nameOf(uri)}\n${quote}`;
  }
}

/** What was chosen, and the conditions under which it is valid. */
interface NeighbourChoice {
  readonly uri: string;
  readonly languageId: string;
  readonly exclude: readonly string[];
  /** The addresses of the files that are quoted. */
  readonly files: ReadonlySet<string>;
  readonly text: Promise<string>;
}

function commented(text: string, mark: string): string {
  const lines = text.split('\n').map((line) => `${mark} ${line}`.trimEnd());
  return lines.join('\n');
}

/** As many whole lines as there is room for, from the beginning of a line. */
function wholeLines(source: TextSource, from: number): string {
  const start = source.offsetAt({ line: from, character: 0 });
  const range = { start: source.positionAt(start), end: source.positionAt(start + maxOfFile) };
  const text = source.getText(range);
  const isWhole = text.length < maxOfFile;
  const lines = isWhole ? text : text.slice(0, Math.max(0, text.lastIndexOf('\n')));
  return lines.replaceAll('\r\n', '\n').trim();
}

/** The last two parts of a path are enough, and reveal less of a home folder. */
function nameOf(uri: string): string {
  const [, path = ''] = /^[^:/]*:(?:\/\/[^/]*)?([^?#]*)/.exec(uri) ?? [];
  return path.split('/').filter(Boolean).slice(-2).map(decoded).join('/');
}
