import { languageAttributes } from '../language.ts';
import { escapeXml } from '../markdown/xmlText.ts';

export interface XhtmlPage {
  readonly title: string;
  readonly language: string;
  /** With a space before each. */
  readonly bodyAttributes?: string;
  /** What stands inside of `<body>`, with a line end behind it. */
  readonly body: string;
}

/** The frame that all pages of a book have. */
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
