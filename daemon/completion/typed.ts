import type { Surroundings } from './surroundings.ts';

/**
 * What was typed at the cursor since: `""` at the same place, undefined where anything else changed. Closers that an
 * editor adds by itself after the cursor are nothing that the user typed.
 */
export function typedSince(before: Surroundings, now: Surroundings): string | undefined {
  const length = now.offset - before.offset;
  if (length < 0 || length > now.prefix.length || !isSameAfter(before.suffix, now.suffix)) return undefined;
  const cut = now.prefix.length - length;
  return endsAlike(before.prefix, now.prefix.slice(0, cut)) ? now.prefix.slice(cut) : undefined;
}

/** Both may begin elsewhere, because a budget moved on with the cursor: what both hold must be the same. */
function endsAlike(one: string, other: string): boolean {
  return one.length < other.length ? other.endsWith(one) : one.endsWith(other);
}

/** Both may end elsewhere. */
function beginsAlike(one: string, other: string): boolean {
  return one.length < other.length ? other.startsWith(one) : one.startsWith(other);
}

function isSameAfter(before: string, now: string): boolean {
  if (beginsAlike(before, now)) return before !== '' || now === '' || isOnlyClosers(now);
  const [added = ''] = /^[)\]}"'`>]{1,3}/.exec(now) ?? [];
  for (let count = 1; count <= added.length; count += 1)
    if (beginsAlike(before, now.slice(count))) return true;
  return false;
}

function isOnlyClosers(text: string): boolean {
  return /^[)\]}"'`>]{1,3}$/.test(text);
}
