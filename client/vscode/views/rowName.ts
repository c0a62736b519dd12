/** A model's name as a row shows it. The editor cuts a label that does not fit, so none is shortened here. */
export interface RowName {
  /** The last part of the name, with its tag. */
  readonly label: string;
  /** What comes before it, such as `hf.co/owner`; `""` for most names. */
  readonly path: string;
}

export function toRowName(name: string): RowName {
  const slash = name.lastIndexOf('/');
  return { label: name.slice(slash + 1), path: name.slice(0, Math.max(0, slash)) };
}
