/**
 * Within an indent, PDFMake forgets the indent when a table or a row of columns continues on the next page, and sets
 * the rest too wide. It remembers only the table's own margin, so the table gets the whole indent as its own.
 * @param indent points from the margin of the page; 0 within another table, whose margin it remembers
 * @param shift points that the node stands further right
 */
export function fromPageMargin(
  node: Record<string, unknown>,
  indent: number,
  shift = 0,
): Record<string, unknown> {
  if (indent === 0 && shift === 0) return node;
  return { stack: [{ stack: [{ ...node, margin: [indent + shift, 0, 0, 0] }], marginLeft: -indent }] };
}
