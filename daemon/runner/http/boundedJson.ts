import { advise, RunnerError } from '../../base/errors.ts';
import { excessOf, maxNesting, maxNodes } from '../../base/nesting.ts';

/**
 * A JSON value within a stream.
 * @throws {RunnerError} `bad-response`, also if it is larger or deeper than any answer needs.
 */
export function parseStreamed(line: string): unknown {
  refuseExcess(line);
  try {
    return JSON.parse(line);
  } catch (cause) {
    const html = /^\s*<(!doctype|html)/i.test(line);
    throw new RunnerError(
      'bad-response',
      html
        ? advise('The runner address returned a web page instead of an answer.', 'check-proxy')
        : 'The runner sent a line that is not JSON. Ask again; if it happens again, update the runner.',
      { cause },
    );
  }
}

/**
 * Refuses JSON that is too large or too deep to pass on, before it takes any memory.
 * @throws {RunnerError} `bad-response`.
 */
export function refuseExcess(text: string): void {
  const excess = excessOf(text);
  if (excess === undefined) return;
  const what =
    excess === 'deep'
      ? `is nested more than ${maxNesting} levels deep`
      : `has more than ${maxNodes.toLocaleString('en')} objects, lists and keys`;
  throw new RunnerError(
    'bad-response',
    advise(`The runner sent JSON that ${what}, which no answer needs.`, 'check-address'),
  );
}
