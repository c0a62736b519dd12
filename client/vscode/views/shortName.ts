/** A model's name as a row has room for it, so that the size beside it stays in view. */
export interface ShortName {
  /** The last part of the name, without its middle if it is long. */
  readonly label: string;
  /** What comes before it, such as `hf.co/owner`; `""` for most names. */
  readonly path: string;
}

/** The characters of a label, at a sidebar of the usual width. */
const most = 20;
/** Of those, the last: there is the tag, by which the variants of a model differ. */
const end = 11;

export function shortenName(name: string): ShortName {
  const slash = name.lastIndexOf('/');
  const last = [...name.slice(slash + 1)];
  const isLong = last.length > most;
  const label = isLong ? [...last.slice(0, most - end - 1), '…', ...last.slice(-end)] : last;
  return { label: label.join(''), path: name.slice(0, Math.max(0, slash)) };
}
