import type { RequestMessage } from './messageTypes.ts';

/** What a tool server wants to know. All texts are the server's: a client makes control characters visible. */
export interface ElicitField {
  readonly name: string;
  /**
   * What to call it, if the server gives it a better name.
   * @maxLength 100
   */
  readonly title?: string;
  /**
   * One line.
   * @maxLength 500
   */
  readonly description?: string;
  readonly required: boolean;
  /** `choice` is one of `options`, `choices` are several. */
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  /** Of a text. */
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  readonly options?: readonly ElicitOption[];
  readonly default?: ElicitValue;
}

export interface ElicitOption {
  readonly value: string;
  readonly title: string;
}

export type ElicitValue = string | number | boolean | readonly string[];

export interface ElicitParams {
  /** The `streamId` of the chat whose call asks. */
  readonly streamId: string;
  /** The name of the tool server, which is always shown. */
  readonly server: string;
  /**
   * The server's own words.
   * @maxLength 2000
   */
  readonly message: string;
  /**
   * Without any, the user only agrees or declines.
   * @maxItems 20
   */
  readonly fields: readonly ElicitField[];
  /** What was wrong with the values before; `fields` are then those that are asked again. */
  readonly problem?: string;
  /** A sentence for the user, such as that the server seems to ask for a secret. */
  readonly warning?: string;
  /** The address that the user is to open: https, or http on this machine. It is shown, and never opened by itself. */
  readonly url?: string;
  /** The host of `url`. */
  readonly host?: string;
}

export interface ElicitResult {
  /** `decline` says no, `cancel` gives no answer. */
  readonly action: 'accept' | 'decline' | 'cancel';
  /** By the names of the fields. Any value may be the text that the user typed; the daemon reads and checks it. */
  readonly content?: Readonly<Record<string, ElicitValue>>;
}

/**
 * Daemon to client, if the client has `elicits` (see {@link ToolCapabilities}): a tool server asks the user during a
 * call. A chat has one open question at a time, those before calls among them. A cancel withdraws it.
 */
export const elicitRequest: RequestMessage<ElicitParams, ElicitResult> = { method: 'runner/tools/elicit' };
