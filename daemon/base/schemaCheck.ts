import { createContext, Script } from 'node:vm';
import { Errors } from 'typebox/schema';
import { cutText } from '../../protocol/base/text.ts';

/** In ms of the processor. A schema comes from others, and its patterns and references may take very long. */
const timeLimit = 250;
/** How often a check is tried: a busy machine may give it too little of the processor. */
const maxAttempts = 10;
const maxProblems = 5;

/** What the check of a value found. */
export type SchemaFinding =
  /** What is wrong, such as `/name must be string`; a place is empty where it is the value itself. */
  | { readonly kind: 'wrong'; readonly problems: string }
  | { readonly kind: 'late' }
  /** The schema cannot be read. */
  | { readonly kind: 'unreadable' };

/** Undefined if the value matches. `whole` is the word for the value itself, such as `it`. */
export type SchemaCheck = (schema: object, value: unknown, whole: string) => SchemaFinding | undefined;

/**
 * The validator interprets schemas and never compiles them. Node's `vm` is used only for its time limit, which also
 * stops a regular expression. Its script calls our function, and no foreign code runs.
 */
export function createSchemaCheck({ limit = timeLimit, cpuTime = ownCpuTime } = {}): SchemaCheck {
  const box: { run: () => unknown } = { run: () => undefined };
  const context = createContext(box);
  const script = new Script('run()');
  return (schema, value, whole) => {
    box.run = () => problemsOf(schema, value, whole);
    const begun = cpuTime();
    for (let attempt = 1; ; attempt += 1) {
      try {
        const problems = script.runInContext(context, { timeout: limit }) as string | undefined;
        return problems === undefined ? undefined : { kind: 'wrong', problems };
      } catch (error) {
        if (!isTimeout(error)) return { kind: 'unreadable' };
        if (attempt === maxAttempts || cpuTime() - begun >= limit) return { kind: 'late' };
      }
    }
  };
}

/** In ms, of the whole process. */
function ownCpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function problemsOf(schema: object, value: unknown, whole: string): string | undefined {
  const [isValid, errors] = Errors(schema, value);
  if (isValid) return undefined;
  const problems = errors
    .slice(0, maxProblems)
    .map(({ instancePath, message }) => `${instancePath === '' ? whole : instancePath} ${message}`);
  return cutText(problems.join('; '), 1_000);
}

/** The error is from the other context, so `instanceof` does not work. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
