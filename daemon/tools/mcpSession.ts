import type { Progress, Transport } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { linkedSignal, orAborted, withTimeLimit } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { cutText } from '../../protocol/base/text.ts';
import type { ElicitResult } from '../../protocol/messages/elicit.ts';
import type { ToolTimeouts } from '../../protocol/messages/settings.ts';
import type { CallProgress } from '../../protocol/messages/tools.ts';
import type { CallContext, CallListener, ElicitMode } from '../chat/daemonTools.ts';
import { RunningCalls } from './elicitation/elicitation.ts';
import { closeClient, connectClient, isSessionUnknown, type McpClient, noTimeout } from './mcpClient.ts';
import { McpServerError, type ServerErrors } from './mcpServerError.ts';
import { createServerTransport, howItEnded, type ServerTransportOptions } from './serverTransport.ts';
import { readToolList, type ServerTool, type ToolPage } from './toolList.ts';

export interface McpSessionOptions extends ServerTransportOptions {
  readonly version: string;
  /** How the user can be asked what a server wants to know. */
  readonly elicitModes: () => readonly ElicitMode[];
  /** In ms; 0 is no limit. */
  readonly timeouts: () => ToolTimeouts;
  readonly errors: ServerErrors;
  /** The server has other tools. */
  readonly onDidChange: () => void;
  /** The server has ended; `how` is a clause. */
  readonly onDidEnd: (session: McpSession, how: string) => void;
}

export interface ToolRequest {
  /** The server's own name for the tool. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** As the server listed it: it may say that an argument also goes into a header. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Only built-in tools heed them; the results of others are cut. */
  readonly bounds?: CallContext | undefined;
}

/** A request of MCP that changes nothing. */
export interface ServerRequest {
  readonly method: string;
  readonly params: Record<string, unknown>;
  /** What the server must have announced. */
  readonly needs: 'completions' | 'prompts' | 'resources';
}

export interface CallOptions extends CallListener {
  readonly signal: AbortSignal;
}

/** How long a server has to confirm that it will report changes, in ms. Until then its list is asked for each time. */
const listenTimeout = 10_000;
const gone = 'is gone';

/** Starts a server, greets it and lists its tools. An aborted signal ends it. @throws {McpServerError} */
export async function startSession(options: McpSessionOptions, signal: AbortSignal): Promise<McpSession> {
  const { version, errors, onDidEnd } = options;
  let transport: Transport | undefined;
  let ready: McpSession | undefined;
  const stop = () => void transport?.close();
  signal.addEventListener('abort', stop, { once: true });
  const how = () => howItEnded(transport);
  try {
    const mcp = await connectClient({
      openTransport: () => {
        signal.throwIfAborted();
        transport = createServerTransport(options);
        return transport;
      },
      version,
      onDidChangeTools: () => ready?.noteChange(),
      elicitModes: options.elicitModes(),
      elicit: async (asked, withdrawn) => (await ready?.elicit(asked, withdrawn)) ?? { action: 'decline' },
    });
    const session = new McpSession(options, mcp);
    await session.listTools(signal).catch(async (error) => {
      await session.close();
      throw error;
    });
    if (!mcp.client.transport) throw errors.of(how() ?? gone);
    mcp.client.onclose = () => onDidEnd(session, how() ?? gone);
    ready = session;
    return session;
  } catch (error) {
    if (error instanceof McpServerError) throw error;
    const ended = how();
    throw errors.from(error, ended === 'was ended' ? undefined : ended);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A server that was started and greeted, from then to its end. */
export class McpSession {
  readonly startedAt: number;
  readonly #options: McpSessionOptions;
  readonly #mcp: McpClient;
  /** The server speaks revision 2026-07-28. */
  readonly #isNewer: boolean;
  /** The server reports changes of its tools. Others may have other tools each time. */
  #reportsChanges: boolean;
  readonly #calls = new RunningCalls();
  /** As the server listed them last. */
  tools: readonly ServerTool[] = [];
  #hasChanged = false;

  constructor(options: McpSessionOptions, mcp: McpClient) {
    this.#options = options;
    this.#mcp = mcp;
    this.startedAt = options.now();
    this.#isNewer = mcp.client.getProtocolEra() === 'modern';
    const canReport = this.#capability?.listChanged === true;
    this.#reportsChanges = canReport && !this.#isNewer;
    if (canReport && this.#isNewer) void this.#listen();
  }

  /** Whether the server may have other tools by now. */
  get isStale(): boolean {
    return this.#hasChanged || !this.#reportsChanges;
  }

  /** Asks the server for its tools. @throws {McpServerError} */
  async listTools(signal: AbortSignal): Promise<readonly ServerTool[]> {
    const { entry, log, redact } = this.#options;
    this.#hasChanged = false;
    const listing = readToolList(
      (cursor) => this.#toolPage(cursor, signal),
      (sentence) => log.warn(`Tool server ${entry.name}: ${redact(sentence)}`),
    );
    try {
      this.tools = inKnownOrder(this.tools, await this.#answer(listing, signal));
      return this.tools;
    } catch (error) {
      this.#hasChanged = true;
      throw error;
    }
  }

  /** The server's answer. @throws {McpServerError}, or the reason of an aborted signal. */
  async call(request: ToolRequest, { signal, onProgress, elicit }: CallOptions): Promise<unknown> {
    const { errors, timeouts } = this.#options;
    const { tool, toolTotal } = timeouts();
    const limit = toolTotal === 0 ? noTimeout : toolTotal;
    const reason = errors.of(`did not finish the call within ${limit / 1_000} seconds`);
    return withTimeLimit({ limit, reason, signal }, async (inTime) => {
      const idle = linkedSignal(inTime);
      const silent = errors.of(`said nothing for ${tool / 1_000} seconds`);
      const startTimer = () => (tool === 0 ? undefined : setTimeout(() => idle.abort(silent), tool));
      let timer = startTimer();
      const pause = () => clearTimeout(timer);
      const onSign = (reported?: Progress) => {
        pause();
        timer = startTimer();
        if (reported) onProgress?.(toProgress(reported));
      };
      const end = this.#calls.begin({ elicit, signal: idle.signal, pause, goOn: () => onSign() });
      try {
        return await this.#answer(this.#request(request, onSign, idle.signal), idle.signal);
      } finally {
        end();
        pause();
        idle.unlink();
      }
    });
  }

  /** Asks the user of the call that runs. Between calls, nobody is asked. */
  elicit(asked: unknown, withdrawn: AbortSignal): Promise<ElicitResult> {
    const { entry, log, redact } = this.#options;
    const refuse = (clause: string) =>
      log.warn(`The tool server ${entry.name} ${redact(clause)}. It was declined.`);
    return this.#calls.elicit(asked, { server: entry.name, signal: withdrawn, refuse });
  }

  /**
   * The server's answer; undefined if it does not offer that.
   * @throws {McpServerError}, or the reason of an aborted signal.
   */
  async ask({ method, params, needs }: ServerRequest, signal: AbortSignal): Promise<unknown> {
    if (!this.#mcp.client.getServerCapabilities()?.[needs]) return undefined;
    const asked = this.#mcp.client.request({ method, params }, callResult, { signal, timeout: noTimeout });
    return this.#answer(asked, signal);
  }

  noteChange(): void {
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    this.#options.onDidChange();
  }

  close(): Promise<void> {
    return closeClient(this.#mcp);
  }

  get #capability() {
    return this.#mcp.client.getServerCapabilities()?.tools;
  }

  async #toolPage(cursor: string | undefined, signal: AbortSignal): Promise<ToolPage> {
    if (!this.#capability) return { tools: [] };
    const params = cursor === undefined ? {} : { cursor };
    const options = { signal, timeout: noTimeout };
    return this.#mcp.client.request({ method: 'tools/list', params }, listResult, options);
  }

  /** An aborted signal is reported to the server. */
  #request(
    { name, arguments: given, inputSchema }: ToolRequest,
    onprogress: (reported: Progress) => void,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { client } = this.#mcp;
    const params = { name, arguments: given };
    const options = { signal, timeout: noTimeout, onprogress };
    if (!this.#isNewer) return client.request({ method: 'tools/call', params }, callResult, options);
    const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } };
    return client.callTool(params, { ...options, toolDefinition });
  }

  /** By the newer revision, a server reports changes only while a client listens for them. */
  async #listen(): Promise<void> {
    try {
      const { closed } = await this.#mcp.client.listen(
        { toolsListChanged: true },
        { timeout: listenTimeout },
      );
      this.#reportsChanges = true;
      await closed;
    } catch {
      // Its list is asked for each time.
    } finally {
      this.#reportsChanges = false;
    }
  }

  /** @throws {McpServerError}, or the reason of an aborted signal. */
  async #answer<T>(asked: Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await orAborted(asked, signal);
    } catch (error) {
      signal.throwIfAborted();
      const { transport } = this.#mcp;
      throw this.#options.errors.from(error, howItEnded(transport), {
        isSessionUnknown: isSessionUnknown(error, transport),
      });
    }
  }
}

function toProgress({ progress, total, message }: Progress): CallProgress {
  return withoutUndefined({ progress, total, message: message && cutText(message, 1_000) });
}

/** Some servers have no list where they have no tools, or a cursor that is no text after the last page. */
const listResult = z.looseObject({
  tools: z._default(z.array(z.unknown()), []),
  nextCursor: z.catch(z.optional(z.string()), undefined),
});
const callResult = z.looseObject({});

/** A server may list its tools in another order each time. A prompt that stays the same is not read again. */
function inKnownOrder(known: readonly ServerTool[], now: readonly ServerTool[]): readonly ServerTool[] {
  const places = new Map(known.map(({ name }, index) => [name, index]));
  const placeOf = ({ name }: ServerTool) => places.get(name) ?? known.length;
  return now.toSorted((a, b) => placeOf(a) - placeOf(b));
}
