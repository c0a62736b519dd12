import type { RequestMessage } from './messageTypes.ts';

export interface PromptArgument {
  /**
   * One word. In a file it is a letter, and then letters, digits, `_` or `-`, and stands in the text as `{{name}}`.
   */
  readonly name: string;
  readonly description?: string;
  /** Absent or false: without a value, nothing stands in its place. */
  readonly required?: boolean;
}

/** A prompt that the user or a workspace keeps under a name, or that a tool server (MCP) offers. */
export interface Prompt {
  /** What is typed behind the slash, such as `review`; of a tool server, its name comes before: `git:review`. */
  readonly name: string;
  /** One line; may be empty. */
  readonly description: string;
  readonly from: 'user' | 'workspace' | 'server';
  /** The name of the tool server, as it is entered. */
  readonly server?: string;
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
  /**
   * Names of the client's own commands, which come before all prompts.
   * @maxItems 1000
   */
  readonly commands?: readonly string[];
  /**
   * Waits for tool servers that are not ready, up to 15 s. By default they are started, and waited for a moment;
   * what comes later is in the next list.
   */
  readonly wait?: boolean;
}

export interface ListPromptsResult {
  /** In the order of their names; of several with one name, the one that counts comes first. */
  readonly prompts: readonly Prompt[];
  /** Present if the workspace has such a folder with prompts. */
  readonly folder?: PromptFolder;
  /** What is wrong beside single prompts, each a sentence. */
  readonly problems: readonly string[];
}

/** Client to daemon: which prompts there are, those that cannot be used too. Files and servers are asked each time. */
export const listPromptsRequest: RequestMessage<ListPromptsParams, ListPromptsResult> = {
  method: 'runner/prompts/list',
};

export interface GetPromptParams extends WorkspaceParams {
  readonly name: string;
  /**
   * What the user typed behind the name. It fills the arguments.
   * @maxLength 1000000
   */
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
  /** Base64, for the `images` of the message. Only a prompt of a tool server has them. */
  readonly images?: readonly string[];
  readonly model?: string;
  /** For `hostedTools`. */
  readonly tools?: readonly string[];
}

/** Client to daemon: the text of a prompt, with its arguments filled in. */
export const getPromptRequest: RequestMessage<GetPromptParams, GetPromptResult> = {
  method: 'runner/prompts/get',
};

export interface CompletePromptParams extends WorkspaceParams {
  /** Of the prompt. */
  readonly name: string;
  /** The name of the argument. */
  readonly argument: string;
  /** What the user has typed of its value. */
  readonly value: string;
  /** The other values so far, by name. */
  readonly values?: Readonly<Record<string, string>>;
}

/**
 * Client to daemon: what the user may mean, at most 100 values. It is empty if the prompt is a file, or if its server
 * does not know or does not answer in time.
 */
export const completePromptRequest: RequestMessage<
  CompletePromptParams,
  { readonly values: readonly string[] }
> = { method: 'runner/prompts/complete' };

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
