import { RendererBusy } from '../formats/renderer.ts';
import { Unrenderable } from '../formats/renderJob.ts';
import { IndexUnavailableError, QueryError } from '../search/documentIndex.ts';
import { ToolError } from './tool.ts';

/** JSON-RPC 2.0, section 5.1. */
const invalidParameters = -32_602;
const internalError = -32_603;

/** The SDK, which is loaded once somebody asks by MCP. */
export type McpProtocol = typeof import('./mcpProtocol.ts');

export interface McpFailuresOptions {
  readonly protocol: McpProtocol;
  /** What went wrong here, and is no mistake of the client. */
  readonly onDefect: (error: Error) => void;
}

/** What a client learns about a failure. */
export class McpFailures {
  readonly #protocol: McpProtocol;
  readonly #onDefect: (error: Error) => void;

  constructor({ protocol, onDefect }: McpFailuresOptions) {
    this.#protocol = protocol;
    this.#onDefect = onDefect;
  }

  /** A sentence for the client. An internal error goes only to the log. */
  sentenceOf(error: unknown): string {
    if (error instanceof ToolError || error instanceof QueryError || error instanceof Unrenderable)
      return error.message;
    if (error instanceof IndexUnavailableError) return 'The index does not answer. Try again in a moment.';
    if (error instanceof RendererBusy) return 'Too many documents are being read. Try again in a moment.';
    this.#onDefect(error instanceof Error ? error : new Error(String(error)));
    return 'The service has failed. Its log has more.';
  }

  invalid(message: string): Error {
    return new this.#protocol.ProtocolError(invalidParameters, message);
  }

  unknownResource(uri: string, message: string): Error {
    return new this.#protocol.ProtocolError(invalidParameters, message, { uri: uri.slice(0, 1_000) });
  }

  /** Runs work that may fail, and throws only errors that a client may see. */
  async answer<Answer>(signal: AbortSignal, work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof this.#protocol.ProtocolError || signal.aborted) throw error;
      throw new this.#protocol.ProtocolError(internalError, this.sentenceOf(error));
    }
  }
}
