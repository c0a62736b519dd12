import { isLoopback } from '../../protocol/base/loopback.ts';
import type { Attachment, Message, Notice } from '../../protocol/messages/chat.ts';
import { type FindPrivacy, type Privacy, tryPathOf } from '../base/filePrivacy.ts';
import type { ModelCapabilities } from '../models/modelCapabilities.ts';
import type { Server } from '../runner/runner.ts';

interface ScreenedMessages {
  readonly messages: readonly Message[];
  readonly privateFiles: readonly PrivateFile[];
}

/** A private file that is attached. */
export interface PrivateFile {
  readonly path: string;
  readonly privacy: Privacy;
  readonly isLeftOut: boolean;
  /** It is attached to the newest prompt. */
  readonly isNew: boolean;
}

/**
 * Leaves out the text of private files that a client added by itself. What the user named stays. Every attachment
 * passes here, so clients need not know which files are private.
 */
export async function screenAttachments(
  messages: readonly Message[],
  findPrivacy: FindPrivacy,
): Promise<ScreenedMessages> {
  const newest = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const privateFiles: PrivateFile[] = [];
  const screen = async (attachment: Attachment, isNew: boolean): Promise<Attachment> => {
    const { path, automatic: isLeftOut = false } = attachment;
    const privacy = await privacyOf(attachment, findPrivacy);
    if (privacy === undefined) return attachment;
    privateFiles.push({ path, privacy, isLeftOut, isNew });
    return isLeftOut
      ? { ...attachment, text: '(The text of this file is private, and was left out.)' }
      : attachment;
  };
  const screened = messages.map(async (message, at) => {
    const { attachments } = message;
    if (!attachments) return message;
    return {
      ...message,
      attachments: await Promise.all(attachments.map((one) => screen(one, at >= newest))),
    };
  });
  return { messages: await Promise.all(screened), privateFiles };
}

/** A name of a model, and where it runs if that is not this machine. */
export function recipientOf(
  server: Server,
  model: string,
  knowledge: Pick<ModelCapabilities, 'isRemote'>,
): string {
  if (knowledge.isRemote(server, model)) return `${model}, which runs elsewhere,`;
  return isLoopback(server.url) ? model : `${model} at ${server.url}`;
}

/** An address that cannot be read counts as a secret. */
export async function privacyOf(
  { path, uris = [] }: Pick<Attachment, 'path' | 'uris'>,
  find: FindPrivacy,
): Promise<Privacy | undefined> {
  const paths = uris.length === 0 ? [path] : uris.map(tryPathOf);
  const all = await Promise.all(paths.map((one) => (one === undefined ? 'secret' : find(one))));
  return all.find((privacy) => privacy !== undefined);
}

/**
 * The user is notified of each file once in a conversation. A file that the user attached is sent even if others are
 * left out. `recipient` names who receives it.
 */
export function noticesAbout(found: readonly PrivateFile[], recipient: string): readonly Notice[] {
  const known = new Set(
    found.filter(({ isNew }) => !isNew).map(({ path, isLeftOut }) => `${isLeftOut} ${path}`),
  );
  const news = found.filter(({ path, isLeftOut }) => !known.has(`${isLeftOut} ${path}`));
  const sent = news.filter(({ isLeftOut }) => !isLeftOut);
  const leftOut = news.filter(({ isLeftOut, path }) => isLeftOut && !sent.some((file) => file.path === path));
  return [
    ...noticeOf('private-files-sent', sent, {
      one: `It is sent to ${recipient} because you attached it.`,
      many: `They are sent to ${recipient} because you attached them.`,
    }),
    ...noticeOf('private-files-left-out', leftOut, {
      one: 'Only its name is sent.',
      many: 'Only their names are sent.',
    }),
  ];
}

interface Sentences {
  readonly one: string;
  readonly many: string;
}

const looks: Readonly<Record<Privacy, Sentences>> = {
  secret: { one: 'looks like a file with secrets', many: 'look like files with secrets' },
  excluded: { one: 'is excluded', many: 'are excluded' },
};

function noticeOf(code: Notice['code'], files: readonly PrivateFile[], fate: Sentences): readonly Notice[] {
  const sentences = (['secret', 'excluded'] as const).flatMap((privacy) => {
    const paths = [...new Set(files.filter((file) => file.privacy === privacy).map(({ path }) => path))];
    const form = paths.length === 1 ? 'one' : 'many';
    return paths.length === 0 ? [] : [`${listOf(paths)} ${looks[privacy][form]}. ${fate[form]}`];
  });
  return sentences.length === 0 ? [] : [{ code, message: sentences.join(' ') }];
}

/** The most names in one notice. */
const maxNames = 5;

function listOf(paths: readonly string[]): string {
  const rest = paths.length - maxNames;
  const named = rest > 1 ? [...paths.slice(0, maxNames), `${rest} more`] : paths;
  return new Intl.ListFormat('en-GB').format(named);
}
