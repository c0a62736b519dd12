import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { count } from '../../../protocol/base/text.ts';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import {
  type FoundFile,
  type FoundMention,
  fetchFileRequest,
  findFilesRequest,
} from '../../../protocol/messages/files.ts';
import { TerminalError } from '../cli/failure.ts';
import { isYes } from '../cli/question.ts';
import type { DaemonClient } from '../daemon/daemon.ts';

/** What goes along with a prompt. */
export interface Along {
  readonly attachments: readonly Attachment[];
  readonly images: readonly string[];
}

/** Something that the prompt names and that goes nowhere without a yes. */
export type AttachmentConsent =
  | { readonly kind: 'private'; readonly file: FoundFile }
  | { readonly kind: 'page'; readonly url: string };

export interface NamedFilesOptions {
  readonly daemon: DaemonClient;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** @throws {TerminalError} if nobody can be asked. */
  readonly agrees: (consent: AttachmentConsent) => Promise<boolean>;
  /** Shows what is attached, before it is sent. */
  readonly attached: (word: string, files: readonly FoundFile[]) => Promise<void>;
  /** Shows a sentence about what is not. */
  readonly note: (sentence: string) => Promise<void>;
}

/** What the words of a typed prompt name. The prompt stays as it is, and what is attached is not searched for more. */
export async function attachNamedFiles(prompt: string, options: NamedFilesOptions): Promise<Along> {
  if (!/(?:^|\s)@[^\s@]/.test(prompt)) return { attachments: [], images: [] };
  const { daemon, cwd, signal } = options;
  const { mentions } = await daemon.request(findFilesRequest, { text: prompt, cwd }, signal);
  const files: FoundFile[] = [];
  for (const mention of mentions) {
    const agreed = await agreedOf(mention, options);
    for (const note of mention.notes) await options.note(note);
    if (agreed.length > 0) await options.attached(mention.word, agreed);
    files.push(...agreed);
  }
  return {
    attachments: files.flatMap(({ attachment }) => attachment ?? []),
    images: files.flatMap(({ image }) => image ?? []),
  };
}

async function agreedOf(
  { files, url }: FoundMention,
  { daemon, signal, agrees }: NamedFilesOptions,
): Promise<readonly FoundFile[]> {
  if (url !== undefined) {
    if (!(await agrees({ kind: 'page', url }))) return [];
    return [(await daemon.request(fetchFileRequest, { url }, signal)).file];
  }
  const agreed: FoundFile[] = [];
  for (const file of files)
    if (file.privacy === undefined || (await agrees({ kind: 'private', file }))) agreed.push(file);
  return agreed;
}

/** Asks in words, as often as it takes. Undefined means that the person left the question. */
export async function askConsent(
  consent: AttachmentConsent,
  model: string,
  ask: (question: string) => Promise<string | undefined>,
): Promise<boolean> {
  const question =
    consent.kind === 'page'
      ? `Fetch ${showLine(consent.url)} from ${showLine(new URL(consent.url).host)}? [y]es, [n]o `
      : `${describePrivacy(consent.file)}. Send it to ${showLine(model)}? [y]es, [n]o `;
  for (;;) {
    const answer = await ask(question);
    if (answer === undefined || /^\s*no?\s*$/i.test(answer)) return false;
    if (isYes(answer)) return true;
  }
}

/** The error where nobody can be asked. */
export function consentNeeded(consent: AttachmentConsent): TerminalError {
  return new TerminalError(
    'usage',
    consent.kind === 'page'
      ? `Nothing is fetched from ${showLine(new URL(consent.url).host)} without a yes. To agree, add --yes.`
      : `${describePrivacy(consent.file)}. To send it all the same, add --yes.`,
  );
}

function describePrivacy({ path, privacy }: FoundFile): string {
  const why = privacy === 'secret' ? 'looks like a file with secrets' : 'is excluded';
  return `${showLine(path)} ${why}`;
}

/** How many names of the files of a folder are shown. */
const maxNames = 5;

/** Such as `Attached src/a.ts, 3.1 kB, about 800 tokens.` */
export function describeAttached(word: string, files: readonly FoundFile[]): string {
  const sum = (of: (file: FoundFile) => number) => files.reduce((total, file) => total + of(file), 0);
  // Two digits: it is an estimate.
  const tokens = Number(sum((file) => file.tokens).toPrecision(2));
  const size = `${formatBytes(sum(({ bytes }) => bytes))}, about ${count(tokens, 'token')}`;
  const names = files.map(({ path }) => showLine(path));
  if (names.length === 1) return `Attached ${names[0]}, ${size}.`;
  const rest = names.length - maxNames;
  const shown = rest > 1 ? [...names.slice(0, maxNames), `${rest} more`] : names;
  const list = new Intl.ListFormat('en-GB').format(shown);
  return `Attached ${count(names.length, 'file')} of ${showLine(word)}, ${size}: ${list}.`;
}
