import { maxNesting } from '../base/nesting.ts';
import type { Redaction } from './redaction.ts';
import type { StreamRedaction } from './streamRedaction.ts';

/** What a string is, by the key under which it stands. */
type Voice = 'prose' | 'words' | 'rest';

/** What the daemon or a runner says of itself, in sentences. */
const proseKeys = new Set(['message', 'version', 'error']);
/** What a model or the user wrote, with all that is in it. */
const wordKeys = new Set([
  ...['arguments', 'content', 'description', 'inputSchema', 'insertText', 'partial', 'text', 'thinking'],
]);

/**
 * The least length of a secret that is looked for. A word such as "ollama" is a common token of runners that want none:
 * taken out of a model's code, it would do harm.
 */
const atLeast = { words: 16, rest: 8 };

/** The frame of a message says nothing, and must stay as it is. */
const frameKeys = new Set(['jsonrpc', 'id', 'method']);

/** The edge that every message passes on its way out: the same without secrets. It throws a RangeError for what is nested too deep. */
export function redactMessage<T extends object>(message: T, redaction: Redaction): T {
  const text = (value: string, voice: Voice) =>
    voice === 'prose' ? redaction.redact(value) : redaction.redactKnown(value, atLeast[voice]);

  const walk = (value: unknown, voice: Voice, depth: number): unknown => {
    if (typeof value === 'string') return text(value, voice);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > maxDepth) throw new RangeError('The message is nested too deep.');
    return Array.isArray(value) ? walkItems(value, voice, depth) : walkFields(value, voice, depth);
  };
  // Most messages hold no secret, so a copy is begun at the first difference alone.
  const walkItems = (items: readonly unknown[], voice: Voice, depth: number) => {
    let copy: unknown[] | undefined;
    for (let index = 0; index < items.length; index += 1) {
      const item = walk(items[index], voice, depth + 1);
      if (!copy && item !== items[index]) copy = items.slice(0, index);
      copy?.push(item);
    }
    return copy ?? items;
  };
  const walkFields = (fields: object, voice: Voice, depth: number) => {
    let copy: [key: string, field: unknown][] | undefined;
    const keys = Object.keys(fields);
    for (const key of keys) {
      const field: unknown = Reflect.get(fields, key);
      const isFrame = depth === 0 && frameKeys.has(key);
      const cleanKey = text(key, 'words');
      const cleanField = isFrame ? field : walk(field, voiceOf(key, voice), depth + 1);
      if (!copy && (cleanKey !== key || cleanField !== field))
        copy = keys.slice(0, keys.indexOf(key)).map((before) => [before, Reflect.get(fields, before)]);
      copy?.push([cleanKey, cleanField]);
    }
    return copy ? Object.fromEntries(copy) : fields;
  };
  return walk(message, 'rest', 0) as T;
}

/** For the words of a model, which come in pieces; the edge finds nothing more in them. */
export function createWordsRedaction(redaction: Redaction): StreamRedaction {
  return redaction.stream(atLeast.words);
}

/** What came in may be as deep as the limit, and is wrapped in an answer. */
const maxDepth = maxNesting + 32;

function voiceOf(key: string, outer: Voice): Voice {
  if (outer === 'words' || wordKeys.has(key)) return 'words';
  return outer === 'prose' || proseKeys.has(key) ? 'prose' : 'rest';
}
