import type { Transport } from '@modelcontextprotocol/client';
import { orAborted, withTimeLimit } from '../../protocol/base/abort.ts';
import { createIdleLimit } from './idleLimit.ts';
import { connectMcp, type McpConnection, type ToolRequest } from './mcpConnection.ts';
import { createServerTransport, howItEnded, type ServerTransportOptions } from './serverTransport.ts';
import { readToolList, type ServerTool } from './toolList.ts';
import { type ServerErrors, ToolServerError } from './toolServerError.ts';

/** A server that was started and greeted, with its tools. */
export interface RunningServer {
  readonly startedAt: number;
  /** Its tools, as it listed them last. */
  readonly list: readonly ServerTool[];
  /** Whether it may have other tools by now. */
  readonly isStale: boolean;
  /** Asks for its tools. @throws {ToolServerError} */
  readList(signal: AbortSignal): Promise<readonly ServerTool[]>;
  /** Its answer. @throws {ToolServerError}, or the reason of an aborted signal. */
  call(request: ToolRequest, signal: AbortSignal): Promise<unknown>;
  /** It no longer knows our session and has run nothing: it must be greeted again. */
  isForgotten(error: unknown): boolean;
  close(): Promise<void>;
}

export interface RunningServerOptions extends ServerTransportOptions {
  readonly version: string;
  readonly timeouts: () => { readonly tool: number; readonly toolTotal: number };
  readonly errors: ServerErrors;
  /** It has other tools. */
  readonly onDidChange: () => void;
  /** It has ended; `how` is a clause. */
  readonly onDidEnd: (server: RunningServer, how: string) => void;
}

/** Starts a server, and lists its tools. An aborted signal ends it. @throws {ToolServerError} */
export async function startServer(
  options: RunningServerOptions,
  signal: AbortSignal,
): Promise<RunningServer> {
  const { version, errors, onDidEnd } = options;
  const way: { transport?: Transport; server?: StartedServer; isGone?: true } = {};
  const stop = () => void way.transport?.close();
  signal.addEventListener('abort', stop, { once: true });
  const how = () => howItEnded(way.transport);
  try {
    const connection = await connectMcp({
      openTransport: () => {
        signal.throwIfAborted();
        way.transport = createServerTransport(options);
        return way.transport;
      },
      version,
      onDidChangeTools: () => way.server?.noteChange(),
      onDidEnd: () => {
        way.isGone = true;
        if (way.server) onDidEnd(way.server, how() ?? gone);
      },
    });
    const server = new StartedServer(options, connection, how);
    try {
      await server.readList(signal);
    } catch (error) {
      await connection.close();
      throw error;
    }
    if (way.isGone) throw errors.of(how() ?? gone);
    way.server = server;
    return server;
  } catch (error) {
    if (error instanceof ToolServerError) throw error;
    const ended = how();
    throw errors.from(error, ended === 'was ended' ? undefined : ended);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const gone = 'is gone';
const longestTimer = 2 ** 31 - 1;

class StartedServer implements RunningServer {
  readonly #options: RunningServerOptions;
  readonly #connection: McpConnection;
  /** How it has ended, as a clause. */
  readonly #how: () => string | undefined;
  readonly startedAt: number;
  #list: readonly ServerTool[] = [];
  #hasChanged = false;

  constructor(options: RunningServerOptions, connection: McpConnection, how: () => string | undefined) {
    this.#options = options;
    this.#connection = connection;
    this.#how = how;
    this.startedAt = options.now();
  }

  get list(): readonly ServerTool[] {
    return this.#list;
  }

  get isStale(): boolean {
    return this.#hasChanged || !this.#connection.tellsChanges;
  }

  async readList(signal: AbortSignal): Promise<readonly ServerTool[]> {
    const { entry, log, redact, errors } = this.#options;
    this.#hasChanged = false;
    try {
      this.#list = inKnownOrder(
        this.#list,
        await readToolList(
          (cursor) => this.#connection.listTools(cursor, signal),
          (sentence) => log.warn(`Tool server ${entry.name}: ${redact(sentence)}`),
        ),
      );
      return this.#list;
    } catch (error) {
      this.#hasChanged = true;
      signal.throwIfAborted();
      throw errors.from(error, this.#how());
    }
  }

  async call(request: ToolRequest, signal: AbortSignal): Promise<unknown> {
    const { errors, timeouts } = this.#options;
    const { tool, toolTotal } = timeouts();
    const limit = toolTotal === 0 ? longestTimer : toolTotal;
    const late = errors.of(`did not finish the call within ${limit / 1_000} seconds`);
    return withTimeLimit({ limit, reason: late, signal }, async (inTime) => {
      const idle = createIdleLimit(tool, errors.of(`said nothing for ${tool / 1_000} seconds`), inTime);
      try {
        return await orAborted(this.#connection.callTool(request, idle.restart, idle.signal), idle.signal);
      } catch (error) {
        idle.signal.throwIfAborted();
        throw errors.from(error, this.#how());
      } finally {
        idle.dispose();
      }
    });
  }

  isForgotten(error: unknown): boolean {
    return error instanceof ToolServerError && this.#connection.isForgotten(error.cause);
  }

  noteChange(): void {
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    this.#options.onDidChange();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** A server may tell its tools in another order each time; a prompt that stays the same is not read again. */
function inKnownOrder(known: readonly ServerTool[], now: readonly ServerTool[]): readonly ServerTool[] {
  const places = new Map(known.map(({ name }, index) => [name, index]));
  const placeOf = ({ name }: ServerTool) => places.get(name) ?? known.length;
  return now.toSorted((a, b) => placeOf(a) - placeOf(b));
}
