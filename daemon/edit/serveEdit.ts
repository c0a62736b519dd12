import * as z from 'zod/mini';
import { linkedSignal } from '../../protocol/base/abort.ts';
import type { ChatDelta, Notice } from '../../protocol/messages/chat.ts';
import {
  type EditDelta,
  type EditParams,
  type EditResult,
  editDelta,
  editRequest,
} from '../../protocol/messages/edit.ts';
import { RunnerError } from '../base/errors.ts';
import type { FindPrivacy } from '../base/filePrivacy.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { AnswerStream } from '../chat/answerStreams.ts';
import type { ChatRound } from '../chat/chat.ts';
import { privacyOf } from '../chat/privateAttachments.ts';
import { requestFields } from '../chat/serveChat.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { Runner } from '../runner/runner.ts';
import { editMessages } from './editPrompt.ts';
import { EditReply } from './editReply.ts';

interface EditParts {
  /** Answers one round, and keeps nothing. */
  readonly round: ChatRound;
  readonly stream: AnswerStream;
  readonly findPrivacy: FindPrivacy;
}

/** Answers the request for new lines in place of others. */
export function serveEdit(endpoint: Endpoint, parts: EditParts): void {
  const send = (delta: EditDelta) => endpoint.notify(editDelta, delta);
  endpoint.onRequest(editRequest, editSchema, (params, asked) =>
    parts.stream(params, asked, ({ runner, model }, signal) =>
      edit({ ...params, model }, { ...parts, send }, { runner, signal }),
    ),
  );
}

async function edit(
  params: EditParams,
  { round, findPrivacy, send }: EditParts & { readonly send: (delta: EditDelta) => Promise<void> },
  { runner, signal }: { readonly runner: Runner; readonly signal: AbortSignal },
): Promise<EditResult> {
  const { streamId, instruction, text, before, after, path = '', language, uris, ...asked } = params;
  const isPrivate = (await privacyOf({ path, ...(uris && { uris }) }, findPrivacy)) !== undefined;
  const reply = new EditReply(text);
  const stop = linkedSignal(signal);
  let seq = 0;
  let hasBegun = false;
  const take = async (delta: ChatDelta) => {
    const content = contentOf(delta, reply);
    // The first words may be none of the new lines, but the client learns that the model writes.
    const isNews = content?.kind !== 'text' || content.text !== '' || !hasBegun;
    hasBegun ||= content?.kind === 'text';
    if (content && isNews) await send({ streamId, seq: seq++, ...content });
    // What the model goes on to say is not shown, so nobody waits for it.
    if (reply.isWhole) stop.abort();
  };
  const messages = editMessages(params, isPrivate);
  const result = await round(runner, { ...asked, streamId, messages }, take, stop.signal).finally(
    stop.unlink,
  );
  const finishReason = reply.isWhole && !signal.aborted ? 'stop' : result.finishReason;
  const { usage } = result;
  const { text: lines, isWithoutBlock } = reply.end();
  if (finishReason === 'stop' && isWithoutBlock && lines === '')
    throw new RunnerError(
      'bad-response',
      'The model wrote no new lines. Ask again, or choose another model.',
    );
  const notices = isWithoutBlock && finishReason === 'stop' ? [...result.notices, whole] : result.notices;
  return { finishReason, text: lines, usage, notices };
}

type Content<T = EditDelta> = T extends EditDelta ? Omit<T, 'streamId' | 'seq'> : never;

function contentOf(delta: ChatDelta, reply: EditReply): Content | undefined {
  if (delta.kind === 'thinking') return { kind: 'thinking', text: delta.text };
  // An edit without new lines is an error, which says the same.
  if (delta.kind === 'notice' && delta.notice.code === 'answer-empty') return undefined;
  if (delta.kind === 'notice') return { kind: 'notice', notice: delta.notice };
  return delta.kind === 'text' ? { kind: 'text', text: reply.add(delta.text) } : undefined;
}

const whole: Notice = {
  code: 'edit-without-block',
  message:
    'The model did not mark the new lines, so its whole answer is taken. Read it before you accept it.',
};

const editSchema: Schema<EditParams> = exact(
  z.object({
    ...requestFields,
    instruction: z.string().check(z.refine((text) => text.trim() !== '', 'it is empty')),
    text: z.string(),
    before: z.exactOptional(z.string()),
    after: z.exactOptional(z.string()),
    path: z.exactOptional(z.string()),
    language: z.exactOptional(z.string()),
    uris: z.exactOptional(z.array(z.string())),
  }),
);
