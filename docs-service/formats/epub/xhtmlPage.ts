import { languageAttributes } from '../language.ts';
import { escapeXml } from '../markdown/xmlText.ts';

/**
 * The frame of every page of a book.
 * @param body the content of `<body>`, with a line end after it
 * @param bodyAttributes each with a space before it
 */
export function xhtmlPage(title: string, language: string, body: string, bodyAttributes = ''): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" ${languageAttributes(language)}>
<head>
<title>${escapeXml(title)}</title>
<link rel="stylesheet" type="text/css" href="style.css"/>
</head>
<body${bodyAttributes}>
${body}</body>
</html>
`;
}

/** What the parts of a book have in common. */
export interface BookDescription {
  /** Stable: the same for each book of the same collection. */
  readonly identifier: string;
  readonly title: string;
  readonly language: string;
  readonly authors: readonly string[];
  readonly description: string | null;
  /** `2026-11-21T00:00:00Z`: when the newest of the documents was changed. */
  readonly modified: string;
}
