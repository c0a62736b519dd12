/** Rows by family, in the order of each family's first row; a family of one row is no folder. */
export interface Family<Row> {
  readonly family: string;
  readonly rows: readonly Row[];
}

export function groupByFamily<Row extends { readonly family: string }>(
  rows: readonly Row[],
): readonly (Row | Family<Row>)[] {
  const families = new Map<string, Row[]>();
  for (const row of rows) {
    const members = families.get(row.family);
    if (members) members.push(row);
    else families.set(row.family, [row]);
  }
  return [...families].flatMap(([family, members]): readonly (Row | Family<Row>)[] =>
    members.length === 1 ? members : [{ family, rows: members }],
  );
}
