import type { Attachment } from './chat.ts';
import type { RequestMessage } from './messageTypes.ts';

export interface FindFilesParams {
  /** What the user typed, as typed. Each word that begins with `@` may name files. */
  readonly text: string;
  /** The absolute path of the folder to which the names are relative. */
  readonly cwd: string;
}

/** A file that the text names, a page that was fetched, or a resource of a tool server. */
export interface FoundFile {
  /** Of a resource: as in the text, such as `team:memo://1`. */
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
 * Client to daemon: the files that a text names by `@path`, `@folder/` or `@src/**\/*.ts`, and the resources of tool
 * servers, by `@server:uri`. Words that name nothing and do not look like a path are left out of the result.
 */
export const findFilesRequest: RequestMessage<
  FindFilesParams,
  { readonly mentions: readonly FoundMention[] }
> = { method: 'runner/files/find' };

/** Client to daemon: the text of a page. The client asks the user before, and shows the host. */
export const fetchFileRequest: RequestMessage<{ readonly url: string }, { readonly file: FoundFile }> = {
  method: 'runner/files/fetch',
};

/** A resource of a tool server, or the beginning of some, as it is typed. */
export interface ResourceWord {
  /** Without the `@`, such as `team:` or `team:memo://1`. */
  readonly word: string;
  /** One line. */
  readonly description?: string;
}

/**
 * Client to daemon: the resources whose words begin with what was typed behind an `@`; before the colon, the servers. A
 * server is started, and waited for a moment, once its name is whole.
 */
export const completeResourceRequest: RequestMessage<
  { readonly word: string },
  { readonly words: readonly ResourceWord[] }
> = { method: 'runner/files/complete' };

export interface SearchFilesParams {
  /** The user's question. Its words are looked for, but not those that every question has. */
  readonly text: string;
  /** The absolute path of the folder whose files are searched. */
  readonly cwd: string;
  /**
   * The most tokens that the excerpts may have together, estimated.
   * @minimum 1
   * @maximum 100000
   */
  readonly tokens: number;
}

export interface SearchFilesResult {
  /** Excerpts, best first. Their attachments have `lines`, and are `automatic`. */
  readonly files: readonly FoundFile[];
  /** Sentences for the user: what was not searched. */
  readonly notes: readonly string[];
}

/** Client to daemon: the excerpts of the files of a folder that have most of the words of a question. */
export const searchFilesRequest: RequestMessage<SearchFilesParams, SearchFilesResult> = {
  method: 'runner/files/search',
};
