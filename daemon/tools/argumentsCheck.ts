import { createContext, Script } from 'node:vm';
import { Errors } from 'typebox/schema';
import { cutText } from '../../protocol/base/text.ts';

/** Of the arguments of a call as JSON; what models write is far below. */
const maxArguments = 1024 * 1024;
/** In ms. A schema comes from outside, and its patterns and references may take for ever. */
const timeLimit = 250;
const maxProblems = 5;

/** What is wrong with the arguments of a call, as a sentence that the model reads; undefined where nothing is. */
export type ArgumentsCheck = (
  schema: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
) => string | undefined;

/**
 * The validator interprets schemas and compiles none. Node's `vm` is here for its time limit alone, which also stops a
 * regular expression: the script calls back, and no code from outside is run.
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
        : // A schema that cannot be read is the server's fault; it checks for itself what it gets.
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

/** It is an error of the other context, so that its class says nothing. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
