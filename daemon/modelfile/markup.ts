import type { ClientCapabilities, MarkupContent, MarkupKind } from 'vscode-languageserver/node';

/** The formats in which an editor shows explanations; plain text unless it announced more. */
export interface MarkupFormats {
  readonly hover: MarkupKind;
  readonly documentation: MarkupKind;
}

export const plainFormats: MarkupFormats = { hover: 'plaintext', documentation: 'plaintext' };

/** The first format that the editor announced, which is the one that it prefers. */
export function markupFormats({ textDocument }: ClientCapabilities): MarkupFormats {
  return {
    hover: textDocument?.hover?.contentFormat?.[0] ?? 'plaintext',
    documentation: textDocument?.completion?.completionItem?.documentationFormat?.[0] ?? 'plaintext',
  };
}

/** Converts our own Markdown, which has only bold words and code. */
export function toMarkup(markdown: string, kind: MarkupKind): MarkupContent {
  return kind === 'markdown'
    ? { kind, value: markdown }
    : { kind: 'plaintext', value: markdown.replaceAll('**', '').replaceAll('`', '') };
}
