import { languageAttributes } from '../language.ts';
import { escapeXml } from '../markdown/xmlText.ts';

interface XhtmlPage {
  readonly title: string;
  readonly language: string;
  /** Each with a space before it. */
  readonly bodyAttributes?: string;
  /** The content of `<body>`, with a line end after it. */
  readonly body: string;
}

/** The frame of every page of a book. */
export function xhtmlPage({ title, language, bodyAttributes = '', body }: XhtmlPage): string {
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
