import { answerSteps } from './answering.ts';
import { type Fields, fieldsOf, type HttpAnswer, type Practice, type Request, textOf } from './exchange.ts';
import { answerLoaded, readInference, requireCapabilities, thinks } from './inference.ts';
import type { Hole } from './speech.ts';

export function generate(practice: Practice, request: Request): HttpAnswer | Promise<HttpAnswer> {
  const fields = fieldsOf(request);
  const inference = readInference(practice, fields);
  const [prompt, suffix] = [textOf(fields['prompt']), textOf(fields['suffix'])];
  const isEmpty = prompt === '' && suffix === '';
  if (!isEmpty || inference.keepAlive !== 0)
    requireCapabilities(inference, { use: 'generate', needed: suffix === '' ? [] : ['insert'] });
  if (isEmpty) return answerLoaded(practice, inference, { response: '' });
  const hole = holeIn(fields);
  const system = textOf(fields['system']) || (inference.model.system ?? '');
  const messages = [
    ...(system === '' || hole ? [] : [{ role: 'system', content: system, toolName: '', images: 0 }]),
    { role: 'user', content: prompt + suffix, toolName: '', images: 0 },
  ];
  const think = fields['raw'] !== true && thinks(inference);
  return answerSteps(practice, {
    inference,
    prompt: { messages, tools: [], think, signal: request.signal, ...(hole ? { hole } : {}) },
    fieldsOf: ({ text, thinking }) => ({ response: text, thinking }),
  });
}

const prefixFirst =
  /^(?:<\|?fim_prefix\|?>|<PRE> |<｜fim▁begin｜>)([\s\S]*?)(?:<\|?fim_suffix\|?>| <SUF>|<｜fim▁hole｜>)([\s\S]*?)(?:<\|?fim_middle\|?>| <MID>|<｜fim▁end｜>)$/;
const suffixFirst =
  /^(?:\[SUFFIX\]|<\|code_suffix\|>)([\s\S]*?)(?:\[PREFIX\]|<\|code_prefix\|>)([\s\S]*?)(?:<\|code_middle\|>)?$/;

/**
 * The texts around the hole, if there is one to fill. A raw prompt is written with the tokens of a family; in any other
 * raw prompt all text is before the hole.
 */
function holeIn({ raw, prompt: given, suffix: after }: Fields): Hole | undefined {
  const prompt = textOf(given);
  if (raw !== true) return after ? { prefix: prompt, suffix: textOf(after) } : undefined;
  const [, prefix, suffix] = prefixFirst.exec(prompt) ?? [];
  if (prefix !== undefined && suffix !== undefined) return { prefix, suffix };
  const [, behind = '', before = prompt] = suffixFirst.exec(prompt) ?? [];
  return { prefix: before, suffix: behind };
}
