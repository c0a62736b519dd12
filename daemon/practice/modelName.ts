/** The spellings of a model's name, with its defaults filled in. */
export interface ModelName {
  /** With host and namespace, as in error messages. */
  readonly full: string;
  /** As in the runner's lists: the shortest one, but always with its tag. */
  readonly short: string;
  /** Equal for every spelling of one model. */
  readonly key: string;
}

const form =
  /^(?:\w+:\/\/)?(?:(?:(\w[\w.:-]{0,349})\/)?(\w[\w-]{0,79})\/)?(\w[\w.-]{0,79})(?::(\w[\w.-]{0,79}))?$/;

/** Reads `[scheme://][host/][namespace/]model[:tag]`; undefined if the name does not follow the grammar. */
export function tryModelName(raw: string): ModelName | undefined {
  const [found, host = 'registry.ollama.ai', namespace = 'library', model, tag = 'latest'] =
    form.exec(raw) ?? [];
  if (found === undefined) return undefined;
  const full = `${host}/${namespace}/${model}:${tag}`;
  return { full, short: full.replace(/^registry\.ollama\.ai\/(?:library\/)?/, ''), key: full.toLowerCase() };
}
