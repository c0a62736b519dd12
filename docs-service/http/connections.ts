import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { callerOf } from '../base/rateLimiter.ts';
import { HttpProblem, unavailable } from './problems.ts';

export interface ConnectionBounds {
  /** Connections that are open at once, in all and from one address. */
  readonly max: number;
  readonly maxOfOne: number;
  /** Milliseconds after which a client is disconnected that takes nothing of its answer. */
  readonly maxStall: number;
  /** Whether all of its readers come through this address, so that only the bound of all counts. */
  readonly isProxy: (address: string) => boolean;
}

interface Connection {
  readonly socket: Socket;
  /** Who is counted; undefined for a proxy. */
  readonly caller: string | undefined;
  /** The last answers; several are open if the client does not wait for one before its next request. */
  answers: readonly ServerResponse[];
  /** Bytes that the client, or the system on its behalf, has taken. */
  taken: number;
  /** When something last moved, in milliseconds of `performance.now`. */
  moved: number;
}

/**
 * Bounds the connections of a server, because each holds a descriptor. If there are too many, the one makes room whose
 * client has kept the service waiting for longest. So strangers who hold connections do not keep others out.
 * @returns whether a part of an answer is on its way, so that no other answer can be sent
 */
export function boundConnections(server: Server, bounds: ConnectionBounds): (socket: Socket) => boolean {
  const open = new Map<Socket, Connection>();

  const end = (connection: Connection) => {
    // Its descriptor is free at once; the event comes later.
    open.delete(connection.socket);
    connection.socket.destroy();
  };
  const makeRoom = (caller: string | undefined): boolean => {
    const own = caller === undefined ? [] : [...open.values()].filter((one) => one.caller === caller);
    const crowd = own.length >= bounds.maxOfOne ? own : open.size >= bounds.max ? [...open.values()] : [];
    if (crowd.length === 0) return true;
    const [longest] = crowd.filter(isWaitedFor).sort((one, other) => one.moved - other.moved);
    if (longest !== undefined) end(longest);
    return longest !== undefined;
  };
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const caller = bounds.isProxy(address) ? undefined : callerOf(address);
    if (!makeRoom(caller)) return void socket.destroy();
    open.set(socket, { socket, caller, answers: [], taken: 0, moved: performance.now() });
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (request, response) => {
    const connection = open.get(request.socket);
    if (connection === undefined) return;
    connection.answers = [...openAnswers(connection), response];
    connection.moved = performance.now();
  });
  const sweep = setInterval(() => {
    for (const connection of open.values()) if (stallOf(connection) > bounds.maxStall) end(connection);
  }, bounds.maxStall / 10).unref();
  server.once('close', () => clearInterval(sweep));
  return (socket) => {
    const connection = open.get(socket);
    return connection !== undefined && openAnswers(connection).some(({ headersSent }) => headersSent);
  };
}

function openAnswers({ answers }: Connection): readonly ServerResponse[] {
  return answers.filter(({ destroyed }) => !destroyed);
}

/** Whether the client has to do something: to send the rest of a request, or to take its answer. */
function isWaitedFor(connection: Connection): boolean {
  return (
    connection.socket.writableLength > 0 || !openAnswers(connection).some(({ req: { complete } }) => complete)
  );
}

/**
 * For how many milliseconds the client has taken nothing of its answer. An answer with nothing to take, such as a
 * silent stream of events, is no reason to end.
 */
function stallOf(connection: Connection): number {
  const { socket } = connection;
  if (openAnswers(connection).length === 0) return 0;
  const taken = socket.bytesWritten - socket.writableLength;
  if (taken !== connection.taken || !isWaitedFor(connection)) connection.moved = performance.now();
  connection.taken = taken;
  return performance.now() - connection.moved;
}

/** Bounds what is open at once: for each caller, so that others get theirs, and in all. */
export class OpenCount {
  readonly #open = new Map<string, number>();
  #all = 0;

  constructor(
    private readonly options: {
      /** What is counted, in the plural: `downloads`. */
      readonly what: string;
      /** What one caller is: `token` or `address`. */
      readonly one: string;
      readonly maxOfOne: number;
      readonly maxOfAll: number;
    },
  ) {}

  /** Returns a function that counts one less. Throws HttpProblem if there are too many. */
  add(caller: string): () => void {
    const { what, one, maxOfOne, maxOfAll } = this.options;
    const count = this.#open.get(caller) ?? 0;
    const message = `One ${one} can have at most ${maxOfOne} ${what} at once. End one of the others.`;
    if (count >= maxOfOne) throw new HttpProblem(429, message, { headers: { 'retry-after': '5' } });
    if (this.#all >= maxOfAll) throw unavailable(`Too many ${what} are in progress. Try again in a moment.`);
    this.#open.set(caller, count + 1);
    this.#all += 1;
    return () => this.#remove(caller);
  }

  #remove(caller: string): void {
    const count = (this.#open.get(caller) ?? 0) - 1;
    if (count > 0) this.#open.set(caller, count);
    else this.#open.delete(caller);
    this.#all -= 1;
  }
}

/** Also if the client has gone before there was anything to send. */
export function whenClosed({ raw }: FastifyReply, work: () => void): void {
  if (raw.destroyed) work();
  else raw.once('close', work);
}
