import { cutText } from '../../protocol/base/text.ts';

/** The name of a tool server as people type it before a colon, in one word. */
export function serverWord(name: string): string {
  return wordOf(name).replaceAll(':', '_');
}

/** A server's name for something, in one word without slashes. */
export function wordOf(name: string): string {
  return cutText(name.replace(/[^\p{L}\p{N}_.:-]+/gu, '_'), 64) || '_';
}
