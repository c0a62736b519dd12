/** What somebody can do next, of which each client has words of its own. */
export const adviceCodes = [
  /** No runner answers at the address. */
  'start-runner',
  /** Something else answers at the address, or nothing with its name. */
  'check-address',
  /** A web page answers at the address. */
  'check-proxy',
  /** The address leads to another one, which is not followed. */
  'set-address',
  /** The certificate of the runner is not trusted. */
  'name-ca-file',
  /** The server wants a token, or another one. */
  'set-token',
  /** The server wants a user name and a password, or other ones. They are stored as a token is. */
  'set-password',
  /** There is a token, and it is not sent over plain http to another machine. */
  'use-https',
  /** The prompt does not fit into the context window. */
  'shorten-prompt',
  /** The prompt does not fit, and most of it describes tools. */
  'offer-fewer-tools',
  /** The prompt nearly fills the context window. */
  'make-room',
  /** The tool server wants a login; `server` names it. */
  'log-in',
  /** The tool server has failed and is started again later, or is still starting. */
  'wait-for-restart',
  /** The model catalog cannot be reached. */
  'check-network',
  /** What answers is no model catalog. */
  'set-catalog',
] as const;

export type AdviceCode = (typeof adviceCodes)[number];

/** The advice in a message. The message is `problem`, a blank and `text`. */
export interface Advice {
  readonly code: AdviceCode;
  /** What is wrong, in one or more sentences. A client puts its own words for the code after it. */
  readonly problem: string;
  /** The advice in words that fit any client. */
  readonly text: string;
  /** With `log-in`: the name of the tool server. */
  readonly server?: string;
  /**
   * With `shorten-prompt`, `offer-fewer-tools` and `make-room`: the tokens of a window that fits; 0 if the model can
   * have none. Absent if that is not known.
   */
  readonly contextLength?: number;
}

export type AdviceWords = Readonly<Record<AdviceCode, (advice: Advice) => string>>;

/** The user's own configuration, as messages name it. */
export const userConfiguration = '~/.config/runner/config.json';

/** Words of the clients whose users set these things in their own configuration: the terminal, and editors over ACP. */
export const configurationAdvice = {
  'set-token': () =>
    `Say in "auth" of ${userConfiguration} where its token is, or check the one that is there.`,
  'set-password': () =>
    `Say in "auth" of ${userConfiguration} where its "user:password" is, or check the one that is there.`,
  'use-https': ({ text }) => text,
  'log-in': ({ text }) => text,
  'wait-for-restart': ({ text }) => text,
  'check-network': () =>
    `Check the network, or set "catalogUrl" in ${userConfiguration}; installed models work without it.`,
  'set-catalog': () =>
    `Set "catalogUrl" in ${userConfiguration} to where a catalog answers; installed models work without it.`,
} satisfies Partial<AdviceWords>;

/** A message and the advice in it, if it has any. */
export interface AdviceMessage {
  readonly message: string;
  readonly advice?: Advice;
}
