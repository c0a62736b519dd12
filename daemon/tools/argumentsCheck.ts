import { createSchemaCheck } from '../base/schemaCheck.ts';

/** Of the arguments of a call as JSON, in characters. Models write far less. */
const maxArguments = 1024 * 1024;

/** A sentence for the model that says what is wrong with the arguments of a call; undefined if they are right. */
export type ArgumentsCheck = (
  schema: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
) => string | undefined;

export function createArgumentsCheck(): ArgumentsCheck {
  const check = createSchemaCheck();
  return (schema, given) => {
    const size = JSON.stringify(given).length;
    if (size > maxArguments)
      return `The arguments have ${size.toLocaleString('en-US')} characters; at most 1,048,576 are sent to a tool. Make them shorter.`;
    const finding = check(schema, given, 'they');
    if (finding?.kind === 'wrong')
      return `The arguments do not match the schema of the tool: ${finding.problems}.`;
    if (finding?.kind === 'late')
      return 'The arguments could not be checked against the schema of the tool in time, so the tool was not called.';
    // A schema that cannot be read is the server's fault. The server checks the arguments itself.
    return undefined;
  };
}
