import type { Redaction, StreamRedaction } from '../../protocol/base/redaction.ts';
import { maxNesting } from '../base/nesting.ts';

/** The kind of a string, by its key. */
type Voice = 'prose' | 'words' | 'rest';

/** Sentences by the daemon or a runner. */
const proseKeys = new Set(['message', 'version', 'error']);
/** Text by a model or the user, with everything inside. */
const wordKeys = new Set([
  'arguments',
  'content',
  'description',
  'inputSchema',
  'insertText',
  'partial',
  'text',
  'thinking',
]);

/**
 * The least length of a secret that is searched for. A word such as "ollama" is a common dummy token: masking it in a
 * model's code would do harm.
 */
const atLeast = { words: 16, rest: 8 };

/** The frame of a message holds no text, and must not change. */
const frameKeys = new Set(['jsonrpc', 'id', 'method']);

/**
 * Removes the secrets from a message. Every message passes here on its way out.
 * @throws {RangeError} if it is nested too deep.
 */
export function redactMessage<T extends object>(message: T, redaction: Redaction): T {
  const text = (value: string, voice: Voice) =>
    voice === 'prose' ? redaction.redact(value) : redaction.redactKnown(value, atLeast[voice]);

  const walk = (value: unknown, voice: Voice, depth: number): unknown => {
    if (typeof value === 'string') return text(value, voice);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > maxDepth) throw new RangeError('The message is nested too deep.');
    return Array.isArray(value) ? walkItems(value, voice, depth) : walkFields(value, voice, depth);
  };
  // Most messages hold no secret, so a copy is made only from the first difference on.
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

/** For the words of a model, which come in pieces. `redactMessage` then finds nothing more in them. */
export function createWordsRedaction(redaction: Redaction): StreamRedaction {
  return redaction.stream(atLeast.words);
}

/** Incoming JSON may be as deep as the limit, and an answer wraps it. */
const maxDepth = maxNesting + 32;

function voiceOf(key: string, outer: Voice): Voice {
  if (outer === 'words' || wordKeys.has(key)) return 'words';
  return outer === 'prose' || proseKeys.has(key) ? 'prose' : 'rest';
}
