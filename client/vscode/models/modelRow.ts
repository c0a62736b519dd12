/** What a row of a view hands to a command. */
export interface ModelRow {
  /** What the runner knows it by; of a catalog's row, what to pull. */
  readonly model: string;
  readonly server?: string | undefined;
  /** Of a catalog's row. */
  readonly url?: string;
  /** Of a catalog's row, such as `8b`. */
  readonly sizes?: readonly string[];
}

export function paramsOf(row: ModelRow): { readonly model: string; readonly server?: string } {
  return { model: row.model, ...serverOf(row) };
}

export function serverOf({ server }: ModelRow): { readonly server?: string } {
  return server === undefined ? {} : { server };
}
