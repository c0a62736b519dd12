import type { ClientCapabilities, MarkupContent, MarkupKind } from 'vscode-languageserver/node';

/** How an editor shows what is said of a word; plain text where it has not said that it takes more. */
export interface MarkupFormats {
  readonly hover: MarkupKind;
  readonly documentation: MarkupKind;
}

export const plainFormats: MarkupFormats = { hover: 'plaintext', documentation: 'plaintext' };

/** Of the formats that the editor announced, the one that it likes best. */
export function markupFormats({ textDocument }: ClientCapabilities): MarkupFormats {
  return {
    hover: textDocument?.hover?.contentFormat?.[0] ?? 'plaintext',
    documentation: textDocument?.completion?.completionItem?.documentationFormat?.[0] ?? 'plaintext',
  };
}

/** Our own Markdown, which has nothing but words in bold and code. */
export function toMarkup(markdown: string, kind: MarkupKind): MarkupContent {
  return kind === 'markdown'
    ? { kind, value: markdown }
    : { kind: 'plaintext', value: markdown.replaceAll('**', '').replaceAll('`', '') };
}
