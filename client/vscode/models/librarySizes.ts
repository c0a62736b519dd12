/** One size of a model in the library. */
export interface SizeChoice {
  /** What to pull. */
  readonly model: string;
  readonly description: string;
  readonly isInstalled: boolean;
}

/**
 * The sizes of a model: the catalog's own choice first, then the sizes in the catalog's order; empty if there is no
 * choice. `installed` are names from the runner's list.
 */
export function sizeChoices(
  model: string,
  sizes: readonly string[],
  installed: readonly string[],
): readonly SizeChoice[] {
  const isTagged = model.split('/').at(-1)?.includes(':') ?? false;
  if (sizes.length < 2 || isTagged) return [];
  const known = new Set(installed.map((name) => name.toLowerCase()));
  const isInstalled = (name: string) => known.has(name.toLowerCase());
  return [
    { model, description: 'the default', isInstalled: isInstalled(`${model}:latest`) },
    ...sizes.map((size) => ({
      model: `${model}:${size}`,
      description: '',
      isInstalled: isInstalled(`${model}:${size}`),
    })),
  ];
}
