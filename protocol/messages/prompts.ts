import type { RequestMessage } from './messageTypes.ts';

export interface PromptArgument {
  /** A letter, and then letters, digits, `_` or `-`. In the text of the prompt it stands as `{{name}}`. */
  readonly name: string;
  readonly description?: string;
  /** Absent or false: without a value, nothing stands in its place. */
  readonly required?: boolean;
}

/** A prompt that the user or a workspace keeps under a name. */
export interface Prompt {
  /** What is typed behind the slash, such as `review`. */
  readonly name: string;
  /** One line; may be empty. */
  readonly description: string;
  readonly from: 'user' | 'workspace';
  /** The absolute path of its file. */
  readonly path?: string;
  readonly arguments: readonly PromptArgument[];
  /** The model that answers it. Only a prompt of the user has one. */
  readonly model?: string;
  /** Names of the tool servers whose tools the model may call for it. Only a prompt of the user has them. */
  readonly tools?: readonly string[];
  /** Why it cannot be used, and what to do. */
  readonly problem?: string;
  /** Where the problem is in the file, counted from 1. */
  readonly line?: number;
  /** Its name leads elsewhere: to a command of the client, or to a prompt that comes before it. */
  readonly hiddenBy?: 'command' | 'prompt';
}

/**
 * The `.runner/prompts` of a workspace. Its prompts count only once the user has allowed them, and while the workspace
 * is trusted.
 */
export interface PromptFolder {
  /** Its absolute path. */
  readonly path: string;
  readonly state: 'unasked' | 'allowed' | 'refused' | 'untrusted';
  /** How many prompts it has. */
  readonly files: number;
}

export interface WorkspaceParams {
  /** The absolute path of the workspace; default: the root of the client's `initialize`. */
  readonly cwd?: string;
}

export interface ListPromptsParams extends WorkspaceParams {
  /** Names of the client's own commands, which come before all prompts. At most 1,000. */
  readonly commands?: readonly string[];
}

export interface ListPromptsResult {
  /** In the order of their names; of several with one name, the one that counts comes first. */
  readonly prompts: readonly Prompt[];
  /** Present if the workspace has such a folder with prompts. */
  readonly folder?: PromptFolder;
  /** What is wrong beside single prompts, each a sentence. */
  readonly problems: readonly string[];
}

/** Client to daemon: which prompts there are, those that cannot be used too. The files are read each time. */
export const listPromptsRequest: RequestMessage<ListPromptsParams, ListPromptsResult> = {
  method: 'runner/prompts/list',
};

export interface GetPromptParams extends WorkspaceParams {
  readonly name: string;
  /** What the user typed behind the name. It fills the arguments. At most 1,000,000 characters. */
  readonly text?: string;
  /** Values of arguments, by name. They come before what `text` says. */
  readonly values?: Readonly<Record<string, string>>;
}

export type GetPromptResult =
  | ({ readonly kind: 'prompt' } & FilledPrompt)
  /** Required arguments have no value. `message` says so; a client that can asks for them and sends `values`. */
  | {
      readonly kind: 'missing';
      readonly missing: readonly PromptArgument[];
      /** The values that `text` gave. */
      readonly values: Readonly<Record<string, string>>;
      readonly message: string;
    }
  /** It is in a folder that the user has not been asked about; then `runner/prompts/allow`. */
  | { readonly kind: 'unasked'; readonly folder: PromptFolder; readonly message: string }
  /** It cannot be used, and why. */
  | { readonly kind: 'unusable'; readonly message: string }
  /** There is no such prompt. */
  | {
      readonly kind: 'none';
      /** Names that are near, best first. */
      readonly near: readonly string[];
    };

/** What is sent: a message of the user, and what applies to this turn only. */
export interface FilledPrompt {
  readonly name: string;
  /** The whole text. Nothing in it is looked up: no path, no address, no placeholder in a value. */
  readonly text: string;
  readonly model?: string;
  /** For `hostedTools`. */
  readonly tools?: readonly string[];
}

/** Client to daemon: the text of a prompt, with its arguments filled in. */
export const getPromptRequest: RequestMessage<GetPromptParams, GetPromptResult> = {
  method: 'runner/prompts/get',
};

export interface AllowPromptsParams extends WorkspaceParams {
  readonly allowed: boolean;
}

/**
 * Client to daemon: the user's answer to the question whether the prompts of the workspace's folder count. It is kept
 * for every client.
 */
export const allowPromptsRequest: RequestMessage<AllowPromptsParams, { readonly folder?: PromptFolder }> = {
  method: 'runner/prompts/allow',
};
