/** A choice of what to pull of a model of the library. */
export interface SizeChoice {
  /** What to pull. */
  readonly model: string;
  readonly description: string;
  readonly isInstalled: boolean;
}

/**
 * What there is of a model to pull, the catalog's own choice first and then its sizes as the catalog orders them;
 * nothing where there is nothing to choose. `installed` are names as the runner lists them.
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
