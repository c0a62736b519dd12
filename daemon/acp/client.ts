import type {
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk';

/** Sends what is new of a session. Settles when it was written, which is the back-pressure; rejects when the client is gone. */
export type Update = (sessionId: string, update: SessionUpdate) => Promise<void>;

/** Who is sent updates, as long as it waits for them. */
export interface Client {
  readonly update: Update;
  readonly signal: AbortSignal;
}

/** Who has sent a prompt, and can be asked whether a tool may run. */
export interface PromptClient extends Client {
  readonly askPermission: (question: RequestPermissionRequest) => Promise<RequestPermissionResponse>;
}
