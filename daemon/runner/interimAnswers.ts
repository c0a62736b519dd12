import type { Socket } from 'node:net';

/** The beginning of `100 Continue`, which says that a request may go on. */
const begin = Buffer.from('HTTP/1.1 100');
const end = Buffer.from('\r\n\r\n');
/** More than any header block that is taken. */
const longest = 64 * 1024;

/**
 * Leaves `100 Continue` out of what a connection reads. Undici never asks for it and closes a connection that says it;
 * servers may say it all the same, and whoever gets it is to read on. It comes only before an answer, so it is looked
 * for in the first bytes after each request.
 */
export function withoutContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket);
  let held: Buffer | undefined = Buffer.alloc(0);
  socket.write = ((...given: Parameters<typeof write>) => {
    // What follows of a body may go out while its answer comes.
    if (isRequestHead(given[0])) held = Buffer.alloc(0);
    return write(...given);
  }) as typeof socket.write;
  socket.read = (size?: number) => {
    for (;;) {
      const chunk: Buffer | null = read(size);
      if (chunk === null || held === undefined) return chunk;
      const { rest, isOver } = afterContinue(Buffer.concat([held, chunk]));
      held = isOver ? undefined : rest;
      if (isOver) return rest;
    }
  };
  return socket;
}

function isRequestHead(written: unknown): boolean {
  return typeof written === 'string' && /^[A-Z]{3,7} \//.test(written);
}

/** What is left behind whole answers of that kind; `isOver` says that it begins with none, and can begin with none. */
function afterContinue(bytes: Buffer): { readonly rest: Buffer; readonly isOver: boolean } {
  let rest = bytes;
  while (rest.subarray(0, begin.length).equals(begin)) {
    const at = rest.indexOf(end);
    if (at === -1) return { rest, isOver: rest.length > longest };
    rest = rest.subarray(at + end.length);
  }
  return { rest, isOver: !begin.subarray(0, rest.length).equals(rest) };
}
