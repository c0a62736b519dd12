import { isRecord } from '../../protocol/base/json.ts';

/** Values with the user's variables in their texts. */
interface FilledValues {
  readonly values: Readonly<Record<string, unknown>>;
  readonly isChanged: boolean;
  /** What the environment had for the variables: perhaps secrets. */
  readonly used: readonly string[];
  /** A sentence, if a text cannot be filled. It quotes no value. */
  readonly problem: string | undefined;
}

/** `$${`, or `${VAR}`, `${env:VAR}` and `${VAR:-default}`, as other hosts write them. */
const reference = /\$(\$\{)|\$\{(?:([a-zA-Z]+):)?([a-zA-Z_]\w*)(?::-([^}]*))?\}/g;

/**
 * Fills the variables of the environment into all texts of the values. As in a shell, a default also counts for a
 * variable that is empty. What looks like no variable stays as it is: an argument may be a script.
 */
export function fillVariables(
  values: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
): FilledValues {
  const used = new Set<string>();
  let isChanged = false;
  let problem: string | undefined;
  const lookUp = (name: string, usual: string | undefined) => {
    const known = Object.hasOwn(env, name) ? env[name] : undefined;
    if (known === undefined && usual === undefined)
      problem ??= `The variable ${name} is not set in the environment. Set it, or enter a default: "\${${name}:-…}".`;
    if (known) used.add(known);
    return known || (usual ?? '');
  };
  const fillText = (text: string) =>
    text.replace(reference, (_, literal?: string, kind = 'env', name = '', usual?: string) => {
      isChanged = true;
      if (literal !== undefined) return literal;
      if (kind === 'env') return lookUp(name, usual);
      problem ??= `"\${${kind}:${name}}" is no variable of the environment, such as "\${${name}}".`;
      return '';
    });
  /** Lists and records of texts, and nothing that is deeper. */
  const fill = (value: unknown, depth = 1): unknown => {
    if (typeof value === 'string') return fillText(value);
    if (Array.isArray(value) && depth > 0) return value.map((text) => fill(text, depth - 1));
    return isRecord(value) && depth > 0 ? fillRecord(value, depth - 1) : value;
  };
  const fillRecord = (record: Readonly<Record<string, unknown>>, depth?: number) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fill(value, depth)]));
  const filled = fillRecord(values);
  return { values: filled, isChanged, used: [...used], problem };
}
