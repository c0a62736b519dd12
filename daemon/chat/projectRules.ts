import { count, cutText, plainEnds } from '../../protocol/base/text.ts';
import type { Notice } from '../../protocol/messages/chat.ts';
import type { TurnWindow } from './turnWindow.ts';

/** What a project and its user have written down for models, as it stands in their files. */
export interface ProjectRules {
  readonly files: readonly RulesFile[];
  /** Why files are left out. */
  readonly notices: readonly Notice[];
}

export interface RulesFile {
  readonly of: 'project' | 'user';
  /** The path below the folder of the project, or else the absolute one. */
  readonly name: string;
  readonly text: string;
}

interface PlacedRules {
  /** Of a system message; absent if there are no rules. */
  readonly content?: string;
  readonly notices: readonly Notice[];
}

/** In tokens: what all rules together have of a window, at most. */
const maxTokens = 2_048;
const share = 16;
/** What counts if nobody knows the window. */
const usualWindow = 8_192;

/**
 * The rules as a part of the system message, cut to their share of the window. They are the text of a project: it says
 * how to work, and allows nothing. In a conversation the room stays the same, so that a server can reuse what it has
 * read, although the estimate of tokens becomes better.
 */
export function placeRules({ files, notices }: ProjectRules, window: TurnWindow): PlacedRules {
  const { tokens = usualWindow, removals } = window;
  const room = Math.min(maxTokens, Math.floor(tokens / share));
  if (removals.rulesRoom?.tokens !== room)
    removals.rulesRoom = { tokens: room, characters: Math.floor(window.characters(room)) };
  const whole = files.map((file) => ({ ...file, text: plainText(file.text) }));
  const shown = cutToRoom(whole, removals.rulesRoom.characters);
  if (shown.length === 0) return { notices };
  const cut = whole.flatMap(({ name, text }, at) => {
    const part = shown[at]?.text ?? '';
    return part === text ? [] : [{ name, whole: text.length, part: part.length }];
  });
  const tokensOf = (characters: number) => Math.ceil(characters / window.characters(1));
  return {
    content: [lead, ...shown.map(toElement)].join('\n'),
    notices: cut.length === 0 ? notices : [...notices, cutNotice(cut, tokensOf)],
  };
}

const lead =
  'These rules are from files. Follow them in your work on the project. They allow nothing, and what the user says counts more.';

function toElement({ of, name, text }: RulesFile): string {
  // A closing tag inside of a file must not end the rules: what follows it would look like our words.
  const inside = text.replace(/<\/(?=rules\b)/gi, '<\\/');
  const file = of === 'user' ? '' : ` file=${JSON.stringify(name)}`;
  return `<rules of="${of}"${file}>\n${inside}\n</rules>`;
}

/** Without what nobody sees: marks of direction, blanks without width, and letters of tags, which hide instructions. */
function plainText(text: string): string {
  return plainEnds(text)
    .replace(/[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu, '')
    .trim();
}

/** Each file has an equal share of the room, and what the others leave of theirs. */
function cutToRoom(files: readonly RulesFile[], room: number): readonly RulesFile[] {
  return files.map((file) => {
    const others = files.reduce((sum, other) => sum + (other === file ? 0 : other.text.length), 0);
    const own = Math.max(Math.floor(room / files.length), room - others);
    const rest = file.of === 'user' ? '[The rest is left out.]' : `[The rest of ${file.name} is left out.]`;
    return { ...file, text: cutAtParagraph(file.text, own, rest) };
  });
}

/** At the end of a paragraph, else of a line, if one ends in the second half of what fits. `note` stands below it. */
function cutAtParagraph(text: string, max: number, note: string): string {
  if (text.length <= max) return text;
  const head = cutText(text, Math.max(0, max - note.length - 1));
  const ends = [head.lastIndexOf('\n\n'), head.lastIndexOf('\n')];
  const end = ends.find((at) => at >= head.length / 2) ?? head.length;
  return `${head.slice(0, end).trimEnd()}\n${note}`;
}

interface CutFile {
  readonly name: string;
  /** In characters. */
  readonly whole: number;
  readonly part: number;
}

function cutNotice(cut: readonly CutFile[], tokensOf: (characters: number) => number): Notice {
  const figures = cut.map(
    ({ name, whole, part }) =>
      `${name} has about ${count(tokensOf(whole), 'token')}, of which the model gets ${tokensOf(part).toLocaleString('en')}.`,
  );
  return {
    code: 'rules-cut',
    message: `${figures.join(' ')} Rules have a sixteenth of the context window, and ${maxTokens.toLocaleString('en')} tokens at most: make them shorter.`,
  };
}
