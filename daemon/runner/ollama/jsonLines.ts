import { parseStreamed } from '../http/boundedJson.ts';
import { type LineLimits, readTextLines } from '../http/textLines.ts';

/**
 * Reads newline-delimited JSON. Blank lines are skipped. An empty batch says that the runner is still sending.
 * @throws {RunnerError} `bad-response` at a line that is not JSON, and at the limits of `readTextLines`.
 */
export async function* readJsonLines(
  body: AsyncIterable<Buffer>,
  limits?: LineLimits,
): AsyncGenerator<readonly unknown[]> {
  for await (const lines of readTextLines(body, limits)) {
    const values: unknown[] = [];
    for (const line of lines) if (line.trim() !== '') values.push(parseStreamed(line));
    if (values.length > 0 || lines.length === 0) yield values;
  }
}
