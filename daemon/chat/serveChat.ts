import { chatDelta, chatRequest } from '../../protocol/messages/chat.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { AnswerStream } from './answerStreams.ts';
import type { Chat } from './chat.ts';
import { chatParamsSchema } from './params.ts';

interface ChatParts {
  readonly chat: Chat;
  readonly stream: AnswerStream;
  /** @throws {InvalidParamsError} if a name is not that of a tool server. */
  readonly requireTools: (servers: 'all' | readonly string[]) => Promise<void>;
}

/** Answers the request for a turn and sends its deltas. */
export function serveChat(endpoint: Endpoint, { chat, stream, requireTools }: ChatParts): void {
  endpoint.onRequest(chatRequest, chatParamsSchema, (params, asked) =>
    stream(params, asked, async (runner, signal) => {
      if (params.hostedTools !== undefined) await requireTools(params.hostedTools);
      return chat(runner, params, (delta) => endpoint.notify(chatDelta, delta), signal);
    }),
  );
}
