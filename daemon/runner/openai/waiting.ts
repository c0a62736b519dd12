import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import type { Transport } from '../http/transport.ts';
import type { ChatPart, WaitReason } from '../runner.ts';
import { nothing } from './chatAnswer.ts';
import type { ModelEntry } from './modelList.ts';

/** How long nothing must have come before the server is asked why, in ms. */
const patience = 1_000;

/** Passes an answer on. If nothing has come for a second, a part before it says what it waits for. */
export async function* sayingWhy(
  answer: AsyncGenerator<readonly ChatPart[]>,
  findReason: () => Promise<WaitReason | undefined>,
): AsyncGenerator<readonly ChatPart[]> {
  const first = answer.next();
  // A failure is thrown below.
  const begins = first.then(
    () => undefined,
    () => undefined,
  );
  let timer: NodeJS.Timeout | undefined;
  const reason = new Promise<WaitReason | undefined>((resolve) => {
    timer = setTimeout(() => resolve(findReason()), patience);
  }).catch(() => undefined);
  const waitsFor = await Promise.race([begins, reason]).finally(() => clearTimeout(timer));
  if (waitsFor) yield [{ ...nothing, waitsFor }];
  const { done, value } = await first;
  if (done) return;
  yield value;
  yield* answer;
}

/**
 * Why a server has not begun to answer; undefined if it reads the prompt, or does not say. Only llama.cpp has slots.
 */
export async function reasonToWait(
  transport: Transport,
  { name, state }: ModelEntry,
  signal: AbortSignal,
): Promise<WaitReason | undefined> {
  if (state === 'unloaded' || state === 'loading') return 'loading';
  const path = `/slots?fail_on_no_slot=1&model=${encodeURIComponent(name)}&autoload=false`;
  const { status, text } = await transport.look({ method: 'GET', path, signal });
  const value = tryJson(text);
  const error = isRecord(value) ? value['error'] : undefined;
  const isFull = status === 503 && isRecord(error) && /no slot/i.test(String(error['message']));
  return isFull ? 'slot' : undefined;
}
