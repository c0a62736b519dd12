import { bookPalette, codeRules } from '../markdown/codeColouring.ts';
import { escapeXml, languageAttributes } from '../markdown/xmlText.ts';

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

/**
 * Sets no colours for text and paper, so that night mode and e-ink readers keep theirs. The grey of the lines is
 * visible on both, and so are the colours of code.
 */
export const styleSheet = `body {
  margin: 0 3%;
  line-height: 1.5;
  overflow-wrap: break-word;
  hyphens: auto;
}
h1, h2, h3, h4, h5, h6 {
  line-height: 1.25;
  margin: 1.6em 0 0.5em;
  text-align: left;
  hyphens: none;
  break-after: avoid;
  page-break-after: avoid;
}
h1 {
  font-size: 1.7em;
  margin-top: 0.5em;
}
h2 {
  font-size: 1.35em;
}
h3 {
  font-size: 1.15em;
}
h4, h5, h6 {
  font-size: 1em;
}
p, ul, ol, pre, blockquote, div.alert, div.table, figure, details {
  margin: 0.75em 0;
}
ul, ol {
  padding-left: 1.6em;
}
li > ul, li > ol {
  margin: 0.2em 0;
}
li.task {
  list-style-type: none;
}
li.task > [role=img]:first-child, li.task > p:first-child > [role=img]:first-child {
  display: inline-block;
  width: 1.3em;
  margin-left: -1.3em;
}
code, kbd, samp, pre {
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: 0.88em;
  hyphens: none;
}
pre {
  padding: 0.7em 0.9em;
  border: 1px solid rgba(128, 128, 128, 0.5);
  border-radius: 4px;
  line-height: 1.4;
  white-space: pre-wrap;
  text-align: left;
}
pre code {
  font-size: 1em;
}
${codeRules((kind) => bookPalette[kind])}
kbd {
  padding: 0 0.3em;
  border: 1px solid rgba(128, 128, 128, 0.5);
  border-radius: 3px;
}
blockquote, div.alert {
  padding-left: 1em;
  border-left: 3px solid rgba(128, 128, 128, 0.5);
}
div.alert p.label {
  margin-bottom: 0.2em;
  font-weight: bold;
}
figcaption {
  font-size: 0.88em;
}
figcaption + pre {
  margin-top: 0.3em;
}
div.table {
  overflow-x: auto;
}
table {
  border-collapse: collapse;
  font-size: 0.92em;
}
th, td {
  padding: 0.3em 0.6em;
  border-bottom: 1px solid rgba(128, 128, 128, 0.5);
  text-align: left;
  vertical-align: top;
}
th {
  border-bottom: 2px solid #888;
}
tr {
  break-inside: avoid;
  page-break-inside: avoid;
}
.align-center {
  text-align: center;
}
.align-right {
  text-align: right;
}
img {
  max-width: 100%;
  height: auto;
  vertical-align: middle;
}
.missing-picture {
  font-style: italic;
}
hr {
  margin: 2em auto;
  width: 30%;
  border: 0;
  border-top: 1px solid rgba(128, 128, 128, 0.5);
}
sup, sub {
  font-size: 0.75em;
  line-height: 0;
}
summary {
  font-weight: bold;
}
section.footnotes {
  margin-top: 2.5em;
  border-top: 1px solid rgba(128, 128, 128, 0.5);
  font-size: 0.9em;
}
nav ol {
  list-style-type: none;
  padding-left: 1.2em;
}
nav > ol {
  padding-left: 0;
}
nav a {
  color: inherit;
  text-decoration: none;
}
nav li {
  margin: 0.25em 0;
}
nav > ol > li {
  margin-top: 0.8em;
}
body.cover {
  margin: 0;
  text-align: center;
}
body.cover img {
  max-height: 100vh;
}
`;
