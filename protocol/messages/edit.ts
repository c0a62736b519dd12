import type { FinishReason, Notice, ThinkLevel, Usage } from './chat.ts';
import type { NotificationMessage, RequestMessage, ServerParams } from './messageTypes.ts';

export interface EditParams extends ServerParams {
  /**
   * Chosen by the client; the deltas of this edit carry it.
   * @minLength 1
   */
  readonly streamId: string;
  /** @minLength 1 */
  readonly model: string;
  /** What the user wants, as typed. */
  readonly instruction: string;
  /** Whole lines, with or without the line end of the last one. If they are blank, the model writes new lines. */
  readonly text: string;
  /** The lines before them and after them, as many as the client likes; the daemon sends the nearest. */
  readonly before?: string;
  readonly after?: string;
  /** The file, as the model sees it. */
  readonly path?: string;
  /** The language of the text, such as `lua`. */
  readonly language?: string;
  /** The addresses of the file, as in an `Attachment`. Of a private file, only `text` is sent. */
  readonly uris?: readonly string[];
  /** As in a chat. */
  readonly think?: boolean | ThinkLevel;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly keepAlive?: string | number;
}

/** The new lines. They are authoritative; the deltas before them are their beginning. */
export interface EditResult {
  /** `stop` if the text is whole. */
  readonly finishReason: FinishReason;
  /** With the line ends of the lines to change, also of the last one. If it is empty, nothing is left of the lines. */
  readonly text: string;
  readonly usage: Usage;
  readonly notices: readonly Notice[];
}

/** Client to daemon: lines of a file as an instruction wants them. A cancelled edit is a normal result. */
export const editRequest: RequestMessage<EditParams, EditResult> = { method: 'runner/edit' };

/** `text` and `thinking` are appended to what came before. `seq` starts at 0 and grows by one with each delta. */
export type EditDelta = { readonly streamId: string; readonly seq: number } & (
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly kind: 'notice'; readonly notice: Notice }
);

/** Daemon to client: the next piece of an edit. All deltas come before the result. */
export const editDelta: NotificationMessage<EditDelta> = { method: 'runner/edit/delta' };
