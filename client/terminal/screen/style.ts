/** Wraps text in a style of the terminal, or leaves it as it is where styles are off. */
export interface Style {
  readonly on: boolean;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
}

export function createStyle(on: boolean): Style {
  const wrap = (start: number, end: number) => (text: string) =>
    on && text !== '' ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return {
    on,
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    yellow: wrap(33, 39),
    green: wrap(32, 39),
    cyan: wrap(36, 39),
  };
}

/** The style for a stream: off where it is no terminal, or the user wants none (https://no-color.org). */
export function styleFor(
  { isTTY }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Style {
  return createStyle(isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb');
}
