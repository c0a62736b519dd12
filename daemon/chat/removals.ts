import { cutText } from '../../protocol/base/text.ts';
import type { ClearedParts, Message, ToolCall } from '../../protocol/messages/chat.ts';

/**
 * What was removed from the prompts of a conversation to save room. It is removed from every later prompt too, so that
 * the server can reuse what it has read. The model's own calls are never shortened, because models learn the mark and
 * write it into files: they go with their whole round, or stay.
 */
export interface Removals {
  /** The ids of the calls whose results are removed. */
  readonly results: Set<string>;
  /** The ids of the first calls of rounds that are removed. */
  readonly rounds: Set<string>;
  /** How many answers, from the beginning, have no thinking any more. */
  answers: number;
  /** How many turns, from the beginning, are removed. */
  turns: number;
  /** How much of the project's rules stays, for so many tokens of the window. */
  rulesRoom?: { readonly tokens: number; readonly characters: number };
}

/** `cleared` was removed before. */
export function createRemovals(cleared?: ClearedParts): Removals {
  const { results = [], rounds = [], answers = 0, turns = 0 } = cleared ?? {};
  return { results: new Set(results), rounds: new Set(rounds), answers, turns };
}

/** The same for others; undefined if nothing is removed. */
export function clearedParts({ results, rounds, answers, turns }: Removals): ClearedParts | undefined {
  if (results.size + rounds.size + answers + turns === 0) return undefined;
  return { results: [...results], rounds: [...rounds], answers, turns };
}

/** In place of a result. */
function removedMark(toolName = 'the tool'): string {
  return `[removed to save room; call ${toolName} again]`;
}

/** The messages of a conversation without what is removed. Messages of the system stay. */
export function withoutRemoved(messages: readonly Message[], removals: Removals): readonly Message[] {
  const { results, rounds, answers } = removals;
  // The conversation may have become shorter, but the newest prompt always stays.
  const prompts = messages.filter(({ role }) => role === 'user').length;
  const turns = Math.min(removals.turns, Math.max(0, prompts - 1));
  if (results.size + rounds.size + answers + turns === 0) return messages;
  const kept: Message[] = [];
  let [answer, turn] = [0, -1];
  const isGone = { round: false };
  const gone: string[] = [];
  const calls = new Map<string, string>();
  const flush = () => {
    const last = kept.at(-1);
    if (gone.length > 0 && last?.role === 'user')
      kept[kept.length - 1] = { ...last, content: `${last.content}\n\n${notes(gone)}` };
    else if (gone.length > 0) kept.push({ role: 'user', content: notes(gone) });
    gone.length = 0;
  };
  for (const message of messages) {
    const { role, toolCalls = [], toolCallId = '' } = message;
    if (role === 'user') turn += 1;
    if (role === 'assistant') answer += 1;
    if (role === 'assistant') isGone.round = toolCalls.some(({ id }) => rounds.has(id));
    const isOldTurn = turn >= 0 && turn < turns;
    for (const call of toolCalls) calls.set(call.id, labelOf(call));
    if (role === 'system') kept.push(message);
    else if (isOldTurn || (isGone.round && role !== 'user')) gone.push(...linesOf(message, calls));
    else {
      flush();
      const bare = role === 'assistant' && answer <= answers ? withoutThinking(message) : message;
      kept.push(results.has(toolCallId) ? withoutResult(bare) : bare);
    }
  }
  flush();
  return kept;
}

/** At most this many lines stand for what was removed at one place. */
const maxNotes = 30;
/** Of a line, in characters. */
const maxNote = 100;

function notes(lines: readonly string[]): string {
  const all = [...new Set(lines)];
  const shown = all.slice(-maxNotes).join(' · ');
  return `[Removed to save room: ${all.length > maxNotes ? '… · ' : ''}${shown}]`;
}

/** Such as `read_file src/a.ts 1-120`. */
function labelOf({ name, arguments: given }: ToolCall): string {
  const { path, query, start_line: first, end_line: last } = given;
  const about = [path, query].filter((value) => typeof value === 'string').join(' ');
  const lines = typeof first === 'number' || typeof last === 'number' ? ` ${first ?? 1}-${last ?? ''}` : '';
  return cutText(`${name} ${about}${lines}`.trim(), maxNote);
}

/** What is left of a message: whom it is from, and what a call was and gave, if that is short. */
function linesOf({ role, content, toolCallId = '' }: Message, calls: ReadonlyMap<string, string>) {
  if (role === 'user') return [`the user asked ${JSON.stringify(cutText(content, maxNote))}`];
  if (role !== 'tool') return [];
  const label = calls.get(toolCallId) ?? 'a call';
  return [content.length < maxNote && !content.includes('\n') ? `${label}: ${content}` : label];
}

function withoutThinking({ thinking: _, ...message }: Message): Message {
  return message;
}

function withoutResult({ images: _, ...message }: Message): Message {
  return { ...message, content: removedMark(message.toolName) };
}

interface Room {
  /** The tokens of the prompt with these messages. */
  readonly sizeOf: (messages: readonly Message[]) => number;
  /** The tokens of a text of so many characters. */
  readonly tokensOf: (characters: number) => number;
  /** Above it something is removed, until `low` is reached; in tokens. */
  readonly high: number;
  readonly low: number;
}

/** Of the newest rounds everything stays. */
const keptRounds = 2;
/** A result that is hardly longer than the mark is not removed. In characters. */
const shortest = 160;

/**
 * Removes what is oldest in one go, if the prompt has grown beyond its room: results, then thinking, then whole rounds,
 * then whole turns. Returns how many results were removed.
 */
export function makeRoom(
  messages: readonly Message[],
  removals: Removals,
  { sizeOf, tokensOf, high, low }: Room,
): number {
  const size = () => sizeOf(withoutRemoved(messages, removals));
  let now = size();
  if (now <= high) return 0;
  const rounds = roundsOf(messages);
  const newest = rounds.at(-keptRounds)?.at ?? 0;
  let removed = 0;
  for (const { role, toolCallId, toolName, content, images } of messages.slice(0, newest)) {
    if (now <= low) return removed;
    if (role !== 'tool' || toolCallId === undefined || removals.results.has(toolCallId)) continue;
    if (content.length < shortest && !images?.length) continue;
    removals.results.add(toolCallId);
    removed += 1;
    now -= tokensOf(content.length - removedMark(toolName).length);
  }
  if ((now = size()) <= high) return removed;
  removals.answers = messages.slice(0, newest).filter(({ role }) => role === 'assistant').length;
  if ((now = size()) <= high) return removed;
  for (const { at, id, characters } of rounds) {
    if (at >= newest || now <= low) break;
    removals.rounds.add(id);
    now -= tokensOf(characters);
  }
  now = size();
  const prompts = messages.filter(({ role }) => role === 'user').length;
  while (now > high && removals.turns < prompts - 1) {
    removals.turns += 1;
    now = size();
  }
  return removed;
}

function roundsOf(messages: readonly Message[]) {
  return messages.flatMap(({ role, toolCalls = [] }, at) => {
    const id = toolCalls[0]?.id;
    const characters = JSON.stringify(toolCalls).length;
    return role === 'assistant' && id !== undefined ? [{ at, id, characters }] : [];
  });
}
