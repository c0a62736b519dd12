import { createSchemaCheck } from '../base/schemaCheck.ts';

/** Of the arguments of a call as JSON, in characters. Models write far less. */
const maxArguments = 1024 * 1024;

export type ArgumentsCheck = ReturnType<typeof createArgumentsCheck>;
type Fields = Readonly<Record<string, unknown>>;

/** A sentence for the model that says what is wrong with the arguments of a call; undefined if they are right. */
export function createArgumentsCheck() {
  const check = createSchemaCheck();
  return (schema: Fields, given: Fields): string | undefined => {
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
