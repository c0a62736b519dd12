/** No XML document may contain these, not even as references: most control characters and halves of pairs. */
export function withoutIllegalCharacters(text: string): string {
  return text.replace(illegal, '');
}

/** A text of one line as a reader sees it; empty if nothing of it is visible. */
export function visibleText(text: string): string {
  return withoutIllegalCharacters(text).replace(/\s+/g, ' ').trim();
}

/** For text and for attribute values in double quotes. */
export function escapeXml(text: string): string {
  return withoutIllegalCharacters(text).replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

const illegal =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
