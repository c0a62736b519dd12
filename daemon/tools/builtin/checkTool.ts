import { isDeepStrictEqual } from 'node:util';
import { cutText } from '../../../protocol/base/text.ts';
import { pathWord } from '../../config/valueSchemas.ts';
import { fingerprintOf, type ServerTool } from '../toolList.ts';
import type { Check, CheckRunner } from './checks.ts';
import { FileProblemError, withProblems } from './fileProblem.ts';
import { argumentsAsMeant, commandOf } from './forgivenCall.ts';

const runCheckName = 'run_check';
/** Of a command in the description of the tool, in characters. */
const maxShownCommand = 40;
/** Of a result if nobody knows the window of the model. */
const maxCharacters = 32_000;

/** The tool that runs these checks, as it is described to a model. */
export function createCheckTool(checks: readonly Check[], runner: CheckRunner): ServerTool {
  const names = checks.map(({ name }) => name);
  const checkOf = (name: unknown) => checks.find((each) => each.name === name);
  const listed = checks.map(({ name, command }) => {
    const words = command.filter((word) => word !== pathWord).join(' ');
    return `${name} (${cutText(words, maxShownCommand)})`;
  });
  return {
    name: runCheckName,
    title: 'Run check',
    description: `Runs a check of the project and gives its exit code and output. Checks: ${listed.join(', ')}.`,
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', enum: names },
        path: { type: 'string', description: 'Only for this file or folder' },
      },
      required: ['name'],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    fingerprint: fingerprintOf([runCheckName]),
    act: 'check',
    calls: {
      prepare: ({ name, path }, signal, context) =>
        withProblems(async () => {
          const check = checkOf(name);
          if (!check) throw new FileProblemError('There is no such check.');
          const given = typeof path === 'string' ? path : undefined;
          return runner.prepare(check, given, context?.characters ?? maxCharacters);
        }, signal),
      /** A check by its name, or by its command. */
      asMeant(given) {
        const { name, ...rest } = argumentsAsMeant(runCheckName, given);
        const meant = typeof name === 'string' && !checkOf(name) ? checkOfCommand(name, checks) : undefined;
        return meant ?? { name, ...rest };
      },
      meantBy(call) {
        const command = commandOf(call);
        return command === undefined ? undefined : checkOfCommand(command, checks);
      },
      approvalOf: ({ name }) => ({
        tools: [runCheckName, `${runCheckName}/${String(name)}`],
        fingerprint: fingerprintOf([runCheckName, checkOf(name)]),
      }),
    },
  };
}

/** The check that runs this command, and the path in it. */
function checkOfCommand(text: string, checks: readonly Check[]) {
  const words = text.trim().split(/\s+/);
  for (const { name, command } of checks) {
    const at = command.indexOf(pathWord);
    const bare = command.filter((word) => word !== pathWord);
    // What only a path needs is left out with it.
    const short = at > 0 && bare.at(-1) === '--' ? bare.slice(0, -1) : bare;
    if (isDeepStrictEqual(words, bare) || isDeepStrictEqual(words, short)) return { name };
    const path = words[at];
    if (path !== undefined && isDeepStrictEqual(words.toSpliced(at, 1), bare)) return { name, path };
  }
  return undefined;
}
