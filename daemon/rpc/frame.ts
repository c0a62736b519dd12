/** A longer block of bytes is not a header. */
export const maxHeaderBytes = 8 * 1024;

/** The bytes that end the header of a frame. */
export const headerEnd = Buffer.from('\r\n\r\n');

/** A message as a frame of LSP. */
export function frameOf(message: object): string {
  const body = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/**
 * The last header of that name counts. The text before it on its line may be left over from a broken frame, but must
 * not be another header.
 */
export function contentLengthOf(headers: string): number | undefined {
  const lengths = headers.split(/[\r\n]+/).map(lengthInLine);
  return lengths.findLast((length) => length !== undefined);
}

function lengthInLine(line: string): number | undefined {
  const start = line.toLowerCase().lastIndexOf(lengthHeader);
  if (
    start === -1 ||
    isHeaderName(line.charAt(start - 1)) ||
    /^[\w!#$%&'*+.^`|~-]+:/.test(line.slice(0, start))
  )
    return undefined;
  const digits = line.slice(start + lengthHeader.length).trim();
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

const lengthHeader = 'content-length:';

/** Whether this character can belong to a header's name. If so, what follows it is the end of another name. */
function isHeaderName(character: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]$/.test(character);
}
