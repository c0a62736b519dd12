/** The part of a finding of the SDK's validator that is read. */
interface Issue {
  readonly path: readonly (string | number)[];
  readonly expected?: unknown;
  readonly message?: unknown;
}

/** The number of parameters that one sentence names. */
const most = 5;

/** Sentences for a client instead of the findings of the SDK's validator; undefined for any other message. */
export function tryParameterSentence(message: string): string | undefined {
  const issues = tryIssues(message);
  if (issues === undefined) return undefined;
  return [...new Set(issues.map(issueToSentence))].slice(0, most).join(' ');
}

/** The findings are a list in JSON, sometimes after a few words. */
function tryIssues(message: string): readonly Issue[] | undefined {
  const start = message.indexOf('[');
  if (start < 0 || start > 100 || !message.endsWith(']')) return undefined;
  try {
    const found: unknown = JSON.parse(message.slice(start));
    return Array.isArray(found) && found.length > 0 && found.every(isIssue) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isIssue(value: unknown): value is Issue {
  return typeof value === 'object' && value !== null && 'path' in value && Array.isArray(value.path);
}

function issueToSentence({ path, expected, message }: Issue): string {
  const names = path[0] === 'params' ? path.slice(1) : path;
  if (names.length === 0) return 'The parameters of this method must be an object.';
  const name = `The parameter "${names.join('.').slice(0, 100)}"`;
  if (/received undefined$/.test(String(message))) return `${name} is missing.`;
  const kind = kinds[String(expected)];
  return kind === undefined ? `${name} is not valid.` : `${name} must be ${kind}.`;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};
