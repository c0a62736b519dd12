import { formatBytes, showLine } from '../../../protocol/base/text.ts';
import type { Model, RunningState } from '../../../protocol/messages/models.ts';
import { capabilityWords, shortWords, staysForGood } from '../../shared/words.ts';

/** What it can do. A question mark means that only its name suggests it. */
export function describeCapabilities(model: Model): string {
  return capabilityWords(model, shortWords).join(' ');
}

/** Tokens of the context window, and of the largest one that the model supports. */
export function describeContext({ context: { allocated, configured, maximum } }: Model): string {
  const now = allocated ?? configured;
  if (now === undefined) return maximum === undefined ? '' : String(maximum);
  return maximum === undefined || maximum === now ? String(now) : `${now} of ${maximum}`;
}

/** The same; a window that is only assumed, or was observed, is marked. */
export function markContext(model: Model): string {
  const { from } = model.context;
  const isMarked = from === 'assumed' || from === 'observed';
  return [describeContext(model), isMarked ? from : ''].filter(Boolean).join(' ');
}

/** How much memory it takes and where, such as `4.1 GB, on the GPU`; empty if the runner does not say. */
export function describeMemory({ size, sizeVram }: RunningState): string {
  if (size === 0) return '';
  const share = Math.round((sizeVram / size) * 100);
  const place = share === 0 ? 'on the CPU' : share === 100 ? 'on the GPU' : `${share} % on the GPU`;
  return `${formatBytes(size)}, ${place}`;
}

/**
 * When it is unloaded, such as `until 13:05`; empty if that is unknown, and if it stays loaded at a server that cannot
 * unload it.
 */
export function describeExpiry({ expiresAt }: RunningState, today: Date, canUnload = true): string {
  const time = new Date(expiresAt);
  if (Number.isNaN(time.getTime())) return '';
  if (staysForGood(time.getTime(), today.getTime())) return canUnload ? 'until it is stopped' : '';
  const [day, hour] = localTime(time);
  return day === localTime(today)[0] ? `until ${hour}` : `until ${day} ${hour}`;
}

/** Such as `2026-11-21 13:05`, in the user's time zone. What is no time stays as it is. */
export function timeWords(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? showLine(text) : localTime(time).join(' ');
}

/** A day and a time in the user's time zone, such as `2026-11-21` and `13:05`. */
export function localTime(time: Date): readonly [day: string, time: string] {
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  return [
    `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`,
    `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`,
  ];
}
