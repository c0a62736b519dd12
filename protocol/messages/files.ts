import type { Attachment } from './chat.ts';
import type { RequestMessage } from './messageTypes.ts';

export interface FindFilesParams {
  /** What the user typed, as typed. Each word that begins with `@` may name files. */
  readonly text: string;
  /** The absolute path of the folder to which the names are relative. */
  readonly cwd: string;
}

/** A file that the text names, or a page that was fetched. */
export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  /** Estimated. */
  readonly tokens: number;
  /** It looks like a secret, or `exclude` names it. The client asks before it sends such a file. */
  readonly privacy?: 'secret' | 'excluded';
  /** Its text, ready for the `attachments` of a message. Absent if it is a picture. */
  readonly attachment?: Attachment;
  /** A picture as base64, ready for the `images` of a message. */
  readonly image?: string;
}

/** A word that names something. The text itself stays as it is. */
export interface FoundMention {
  /** As typed, with the `@`. */
  readonly word: string;
  readonly files: readonly FoundFile[];
  /** The address that the word is. Nothing is fetched before the client asks for it. */
  readonly url?: string;
  /** Sentences for the user: what was left out, or why the word names nothing. */
  readonly notes: readonly string[];
}

/**
 * Client to daemon: the files that a text names by `@path`, `@folder/` or `@src/**\/*.ts`. Words that name nothing and
 * do not look like a path are left out of the result.
 */
export const findFilesRequest: RequestMessage<
  FindFilesParams,
  { readonly mentions: readonly FoundMention[] }
> = { method: 'runner/files/find' };

/** Client to daemon: the text of a page. The client asks the user before, and shows the host. */
export const fetchFileRequest: RequestMessage<{ readonly url: string }, { readonly file: FoundFile }> = {
  method: 'runner/files/fetch',
};
