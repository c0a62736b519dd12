/**
 * Whether a text may name a document, a tag or a collection in an address: lower-case letters and digits of any script,
 * with single `-`, `_` or `.` between them, at most 100 characters. It never ends like the address of a format
 * (`guide.pdf`), so that no document hides another's PDF.
 */
export function isSlug(text: string): boolean {
  return (
    text.length <= 100 &&
    /^[\p{Ll}\p{Lo}\p{M}\p{N}]+(?:[-_.][\p{Ll}\p{Lo}\p{M}\p{N}]+)*$/u.test(text) &&
    !/\.(pdf|epub|md|html)$/.test(text)
  );
}

/** A slug from any text, such as a title or the name of a file; undefined if nothing of the text can stay. */
export function trySlug(text: string): string | undefined {
  const parts = text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{Ll}\p{Lo}\p{M}\p{N}]+/u);
  const whole = parts.filter(Boolean).join('-');
  const slug = whole.length <= 100 ? whole : [...whole].slice(0, 100).join('').replace(/-$/, '');
  return isSlug(slug) ? slug : undefined;
}
