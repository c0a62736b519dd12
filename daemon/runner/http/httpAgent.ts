import type { Socket } from 'node:net';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';

export { buildConnector };

/**
 * Sends the requests. It is a bundle of its own, loaded with the first request, and holds only the modules of undici
 * that a request needs. All of undici, with `fetch`, WebSockets and caches, takes 7 MB more memory and twice the time
 * to load.
 */
export class HttpAgent extends Agent {
  /** Undici adds it to its own dispatchers in the same way. */
  override request: typeof request = request;
}

/** The start of `100 Continue`, which tells a client to go on with its request. */
const begin = Buffer.from('HTTP/1.1 100');
const end = Buffer.from('\r\n\r\n');
/** Longer than any header block that is accepted. */
const maxHeaderLength = 64 * 1024;

/**
 * Removes `100 Continue` from what a connection reads. Undici never asks for it, and closes a connection that sends it.
 * But servers may send it anyway, and a client should then read on. It comes only before an answer, so only the first
 * bytes after each request are searched.
 */
export function withoutContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket);
  let held: Buffer | undefined = Buffer.alloc(0);
  socket.write = ((...given: Parameters<typeof write>) => {
    // The rest of a body may still be sent while its answer arrives.
    if (typeof given[0] === 'string' && /^[A-Z]{3,7} \//.test(given[0])) held = Buffer.alloc(0);
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

/** The bytes after all complete answers of that kind. `isOver` means that the rest is not the start of another one. */
function afterContinue(bytes: Buffer): { readonly rest: Buffer; readonly isOver: boolean } {
  let rest = bytes;
  while (rest.subarray(0, begin.length).equals(begin)) {
    const at = rest.indexOf(end);
    if (at === -1) return { rest, isOver: rest.length > maxHeaderLength };
    rest = rest.subarray(at + end.length);
  }
  return { rest, isOver: !begin.subarray(0, rest.length).equals(rest) };
}
