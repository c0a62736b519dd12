import { createContext, Script } from 'node:vm';
import { Errors } from 'typebox/schema';
import { cutText } from '../../protocol/base/text.ts';

/** Of the arguments of a call as JSON, in characters. Models write far less. */
const maxArguments = 1024 * 1024;
/** In ms. A schema comes from a server, and its patterns and references may take very long. */
const timeLimit = 250;
const maxProblems = 5;

/** A sentence for the model that says what is wrong with the arguments of a call; undefined if they are right. */
export type ArgumentsCheck = (
  schema: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
) => string | undefined;

/**
 * The validator interprets schemas and never compiles them. Node's `vm` is used only for its time limit, which also
 * stops a regular expression. Its script calls our function, and no foreign code runs.
 */
export function createArgumentsCheck(): ArgumentsCheck {
  const box: { run: () => unknown } = { run: () => undefined };
  const context = createContext(box);
  const script = new Script('run()');
  const inTime = <T>(work: () => T): T => {
    box.run = work;
    return script.runInContext(context, { timeout: timeLimit }) as T;
  };
  return (schema, given) => {
    const size = JSON.stringify(given).length;
    if (size > maxArguments)
      return `The arguments have ${size.toLocaleString('en-US')} characters; at most 1,048,576 are sent to a tool. Make them shorter.`;
    try {
      return inTime(() => problemsOf(schema, given));
    } catch (error) {
      return isTimeout(error)
        ? 'The arguments could not be checked against the schema of the tool in time, so the tool was not called.'
        : // A schema that cannot be read is the server's fault. The server checks the arguments itself.
          undefined;
    }
  };
}

function problemsOf(schema: object, given: object): string | undefined {
  const [isValid, errors] = Errors(schema, given);
  if (isValid) return undefined;
  const problems = errors
    .slice(0, maxProblems)
    .map(({ instancePath, message }) => `${instancePath === '' ? 'they' : instancePath} ${message}`);
  return `The arguments do not match the schema of the tool: ${cutText(problems.join('; '), 1_000)}.`;
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
