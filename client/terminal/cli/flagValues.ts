import type { ChatParams } from '../../../protocol/messages/chat.ts';
import { thinkWords } from '../conversation/thinkWords.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { TerminalError } from './failure.ts';

/** @throws {TerminalError} of the kind `usage`, as the others here. */
export function parseThink(word: string): ChatParams['think'] {
  if (thinkWords.has(word)) return thinkWords.get(word);
  if (word === 'true' || word === 'false') return word === 'true';
  const words = [...thinkWords.keys()].join(', ');
  throw new TerminalError('usage', `"${showLine(word)}" is no level of thinking: it is one of ${words}.`);
}

/** Such as `8192`, or `32k`, which is 32,768. */
export function parseContext(word: string): number {
  const [, digits = '', thousands] = /^(\d{1,9})([kK])?$/.exec(word) ?? [];
  const tokens = Number(digits) * (thousands === undefined ? 1 : 1024);
  if (digits !== '' && tokens > 0) return tokens;
  throw new TerminalError(
    'usage',
    `"${showLine(word)}" is no size of a context window: it is a number of tokens, such as 8192 or 32k.`,
  );
}

/** Seconds, or a duration such as `10m`; it stays the text that it is. */
export function parseKeepAlive(word: string): string {
  if (/^-?\d+$|^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(word)) return word;
  throw new TerminalError(
    'usage',
    `"${showLine(word)}" does not say how long the model stays loaded. Give seconds, such as 600, or a time such as 30m or 1h30m; -1 means forever.`,
  );
}

/** `NAME=VALUE`; a value is a number, `true`, `false`, a JSON list, or else text. */
export function parseOption(text: string): readonly [name: string, value: unknown] {
  const [, name, value = ''] = /^([A-Za-z_][\w.]*)\s*=(.*)$/s.exec(text) ?? [];
  if (name !== undefined && value.trim() !== '') return [name, valueOfOption(name, value.trim())];
  throw new TerminalError(
    'usage',
    `"${showLine(text)}" is no option: it is a name, "=" and a value, such as temperature=0.2.`,
  );
}

/** Options of the runner that are numbers, as people set them. */
export const numericOptions: readonly string[] = [
  'temperature',
  'top_k',
  'top_p',
  'min_p',
  'seed',
  'num_predict',
  'num_ctx',
  'num_keep',
  'num_gpu',
  'num_thread',
  'num_batch',
  'repeat_last_n',
  'repeat_penalty',
  'presence_penalty',
  'frequency_penalty',
];

/** The runner would refuse the whole prompt for the wrong type. */
function valueOfOption(name: string, text: string): unknown {
  const value = optionValue(text);
  if (name === 'stop') return Array.isArray(value) ? value : [text];
  if (typeof value === 'number' || !numericOptions.includes(name)) return value;
  throw new TerminalError('usage', `${name} must be a number, not "${showLine(text)}".`);
}

function optionValue(text: string): unknown {
  if (/^(?:true|false|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)$/.test(text))
    return text === 'true' ? true : text === 'false' ? false : Number(text);
  if (!/^["[]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
