import { ApiFailure, type Fields, type HttpAnswer, recordOf } from '../../../daemon/practice/exchange.ts';
import type { InstalledModel } from '../../../daemon/practice/model.ts';
import type { Ending } from './scriptedSpeech.ts';
import { withHost } from './standInModel.ts';

interface Dressing {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly model: InstalledModel | undefined;
  readonly ending: Ending;
}

/** Adds to an answer of the practice runner what a real runner has beside it, or a script wants otherwise. */
export async function dressAnswer(answer: HttpAnswer, dressing: Dressing): Promise<HttpAnswer> {
  const { path } = dressing;
  if ('lines' in answer) return failFirst(lineByLine(answer.lines, dressing));
  // What is not streamed has no charset after work on models.
  if ('json' in answer && /pull|create/.test(path)) return { contentType: 'application/json', ...answer };
  const isInference = 'json' in answer && 'done' in answer.json;
  return isInference ? { ...answer, json: dressLine(answer.json, dressing) } : answer;
}

/** An error before the first line is an answer of its own, without a charset. */
async function failFirst(lines: AsyncGenerator<Fields>): Promise<HttpAnswer> {
  try {
    const first = await lines.next();
    return {
      lines: (async function* () {
        if (!first.done) yield first.value;
        yield* lines;
      })(),
    };
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    const { status, message } = error;
    return { json: { error: message }, status, contentType: 'application/json' };
  }
}

async function* lineByLine(lines: AsyncIterable<Fields>, dressing: Dressing): AsyncGenerator<Fields> {
  const isInference = /chat|generate/.test(dressing.path);
  for await (const line of lines) {
    if (line.done && dressing.ending.isCut) return;
    if (!showsNothing(line)) yield isInference ? dressLine(line, dressing) : line;
  }
}

/** Chat sends no line for a token that shows nothing; generate does. */
function showsNothing({ message, done }: Fields): boolean {
  return (
    message !== undefined &&
    !done &&
    Object.values(recordOf(message)).every((part) => !part || part === 'assistant')
  );
}

function dressLine(line: Fields, { path, body, model, ending }: Dressing): Fields {
  const { model: name, created_at, message, response, thinking, done, done_reason, ...metrics } = line;
  const { lastCalls } = ending;
  const calls = done && lastCalls.length > 0 ? { tool_calls: lastCalls.map(callOnWire) } : {};
  const hasContext = path.includes('generate') && done && body['raw'] !== true && metrics['total_duration'];
  const dressed = {
    model: name,
    created_at,
    message: message && { ...recordOf(message), ...calls },
    response,
    thinking,
    done,
    done_reason,
    // The tokens so far, for clients that continue a text in the old way: one number for each character.
    context: hasContext ? [...`${body['prompt']}`].map((character) => character.codePointAt(0)) : undefined,
    ...metrics,
    ...logprobsOf(String(recordOf(message)['content'] ?? response ?? ''), body),
  };
  return model ? withHost(model, dressed) : dressed;
}

function callOnWire({ id, name, arguments: args }: Ending['lastCalls'][number], index: number): Fields {
  return { id, function: { index, name, arguments: args } };
}

/** Every token is certain, as with weights that know only one text. */
function logprobsOf(text: string, body: Dressing['body']): Fields {
  const { logprobs, top_logprobs: top = 0 } = body;
  if (logprobs !== true || text === '') return {};
  const token = { token: text, logprob: 0, bytes: [...Buffer.from(text)] };
  const unknown = { token: '<unk>', logprob: -178.6, bytes: [...Buffer.from('<unk>')] };
  const others = Number(top) > 0 ? { top_logprobs: [token, unknown].slice(0, Number(top)) } : {};
  return { logprobs: [{ ...token, ...others }] };
}
