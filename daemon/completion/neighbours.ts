import type { Activity } from './activity.ts';
import { commentMarks } from './commentMarks.ts';
import type { WhyNotSendable } from './sendable.ts';
import type { Place } from './suggestions.ts';
import type { TextSource } from './surroundings.ts';

/** The text of other open files, which a model needs to know what they declare. */
export interface Neighbours {
  /**
   * For the top of a prompt, as comments of its language; `""` where there is none. `isWarming`: nobody asks there yet,
   * and what was chosen for the file in which somebody does stays as it is.
   */
  textFor(place: Place, isWarming: boolean): Promise<string>;
}

export interface NeighboursOptions {
  readonly document: (uri: string) => TextSource | undefined;
  /** Told of each document that is closed. */
  readonly onDidClose: (close: (uri: string) => void) => void;
  readonly activity: Activity;
  readonly whyNotSendable: WhyNotSendable;
  /** The globs of the configuration, as they are now. */
  readonly exclude: () => readonly string[];
}

/** Of how many files something is sent, and how many characters of each: about 700 tokens in all. */
const mostFiles = 3;
const mostOfOne = 700;
/** Lines before the place where one was last in a file. */
const linesBefore = 6;

/**
 * The files that were opened or changed last, the newest nearest to the cursor. They are chosen when one begins in
 * another file and stay as they are until one of them is closed: a runner has evaluated them, and would do so anew with
 * every change.
 */
export function createNeighbours(options: NeighboursOptions): Neighbours {
  const { document, onDidClose, activity, whyNotSendable, exclude } = options;
  /** Where one was last in each file. */
  const lines = new Map<string, number>();
  let current: Chosen | undefined;
  /** For a file that was warmed. */
  let ahead: Chosen | undefined;
  onDidClose((uri) => {
    lines.delete(uri);
    const isGone = (chosen: Chosen | undefined) => chosen?.uri === uri || chosen?.files.has(uri);
    if (isGone(current)) current = undefined;
    if (isGone(ahead)) ahead = undefined;
  });

  const pieceOf = async (uri: string): Promise<string | undefined> => {
    const source = document(uri);
    if (!source || (await whyNotSendable(uri)) !== undefined) return undefined;
    const from = Math.max(0, (lines.get(uri) ?? 0) - linesBefore);
    const piece = wholeLines(source, from);
    return piece === '' ? undefined : `${nameOf(uri)}\n${piece}`;
  };
  const choose = async (place: Place, files: Set<string>): Promise<string> => {
    const [mark] = commentMarks(place.around.languageId);
    if (mark === undefined) return '';
    const pieces: string[] = [];
    for (const uri of activity.recent()) {
      if (pieces.length === mostFiles) break;
      if (uri === place.uri) continue;
      files.add(uri);
      const piece = await pieceOf(uri);
      if (piece === undefined) files.delete(uri);
      else pieces.unshift(piece);
    }
    const commented = pieces.join('\n\n').split('\n');
    return pieces.length === 0
      ? ''
      : `${commented.map((line) => `${mark} ${line}`.trimEnd()).join('\n')}\n\n`;
  };

  /** The first of these that was chosen for this, else a new one. */
  const chosenFor = (place: Place, ...known: readonly (Chosen | undefined)[]): Chosen => {
    const { uri } = place;
    const { languageId } = place.around;
    const wanted = exclude();
    const isSame = (chosen: Chosen | undefined) =>
      chosen?.uri === uri && chosen.languageId === languageId && chosen.exclude === wanted;
    const found = known.find(isSame);
    if (found) return found;
    const files = new Set<string>();
    return { uri, languageId, exclude: wanted, files, text: choose(place, files) };
  };

  return {
    textFor(place, isWarming) {
      if (isWarming) {
        ahead = chosenFor(place, ahead);
        return ahead.text;
      }
      lines.delete(place.uri);
      lines.set(place.uri, place.around.position.line);
      if (lines.size > 200) lines.delete(lines.keys().next().value ?? '');
      current = chosenFor(place, current, ahead);
      return current.text;
    },
  };
}

/** What was chosen, and for what it was. */
interface Chosen {
  readonly uri: string;
  readonly languageId: string;
  readonly exclude: readonly string[];
  /** The addresses of those whose text it is. */
  readonly files: ReadonlySet<string>;
  readonly text: Promise<string>;
}

/** From the beginning of a line, as many whole lines as there is room for. */
function wholeLines(source: TextSource, from: number): string {
  const start = source.offsetAt({ line: from, character: 0 });
  const range = { start: source.positionAt(start), end: source.positionAt(start + mostOfOne) };
  const text = source.getText(range).replaceAll('\r\n', '\n');
  const isWhole = text.length < mostOfOne;
  return (isWhole ? text : text.slice(0, Math.max(0, text.lastIndexOf('\n')))).trim();
}

/** The last two parts of a path say enough, and less of a home than the whole. */
function nameOf(uri: string): string {
  const path = uri
    .replace(/[?#].*$/s, '')
    .split('/')
    .filter(Boolean);
  return path.slice(-2).map(decoded).join('/');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
