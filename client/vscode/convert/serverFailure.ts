/** Why the models of a server are not known. */
export interface Failure {
  /** A sentence that says what to do. */
  readonly sentence: string;
  /** Its name on the wire. */
  readonly kind?: string | undefined;
}

/** A row has little room; its tooltip has the whole sentence. `place` follows the words about an answer. */
export function inShort({ kind, sentence }: Failure, place = ''): string {
  switch (kind) {
    case 'server-unreachable':
      return `no answer${place}`;
    case 'timeout':
      return `no answer in time${place}`;
    case 'unauthorized':
      return `wants an access token${place}`;
    default:
      return sentence;
  }
}

/** A line for each of these servers that says how it is. */
export function describeServers(
  names: readonly string[],
  failures: ReadonlyMap<string, Failure>,
): readonly string[] {
  return names.map((name) => {
    const failure = failures.get(name);
    return `${name}: ${failure ? inShort(failure) : 'answers'}`;
  });
}
