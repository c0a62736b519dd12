/**
 * Within an indent, PDFMake forgets the indent where a table or a row of columns goes over to the next page, and sets
 * what follows too wide. It remembers the table's own margin alone, so the table is given the whole indent as its own.
 * @param indent points from the margin of the page; 0 within another table, where it remembers that one's
 */
export function fromPageMargin(node: Record<string, unknown>, indent: number): Record<string, unknown> {
  if (indent === 0) return node;
  return { stack: [{ stack: [{ ...node, margin: [indent, 0, 0, 0] }], marginLeft: -indent }] };
}
