import { FileProblemError } from './workspace.ts';

/** A file as text. The mark of the byte order is kept apart, because nobody types or sees it. */
export interface FileText {
  readonly text: string;
  readonly hasMark: boolean;
}

const mark = '\ufeff';

/** @throws {FileProblemError} if the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array): FileText {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new FileProblemError('The file is UTF-16; only UTF-8 is read and changed here.');
  if (bytes.includes(0))
    throw new FileProblemError('The file is binary; only text is read and changed here.');
  try {
    const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const hasMark = whole.startsWith(mark);
    return { text: hasMark ? whole.slice(mark.length) : whole, hasMark };
  } catch {
    throw new FileProblemError(
      'The file is not UTF-8: it is binary, or in another encoding. Only UTF-8 is read and changed here.',
    );
  }
}

export function encodeText({ text, hasMark }: FileText): Buffer {
  return Buffer.from(hasMark ? mark + text : text, 'utf8');
}
