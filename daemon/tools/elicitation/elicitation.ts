import { toUSVString } from 'node:util';
import * as z from 'zod/mini';
import { linkedSignal, orAborted } from '../../../protocol/base/abort.ts';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { isLoopbackHost } from '../../../protocol/base/loopback.ts';
import { cutText, showControls, showLine } from '../../../protocol/base/text.ts';
import type { ElicitField, ElicitResult, ElicitValue } from '../../../protocol/messages/elicit.ts';
import type { ElicitForCall } from '../../chat/daemonTools.ts';
import { maxQuestions } from '../mcpClient.ts';
import { checkValue, type FormField, fieldsOf } from './form.ts';

export interface ElicitationOptions {
  readonly server: string;
  readonly ask: ElicitForCall;
  readonly signal: AbortSignal;
  /** `clause` says why nobody was asked. */
  readonly refuse: (clause: string) => void;
}

/** A user who does not come to an answer in so many tries has none. */
const maxTries = 5;
const maxMessage = 2_000;

const params = z.union([
  z.object({ mode: z.literal('url'), message: z.string(), url: z.string() }),
  z.object({ mode: z.optional(z.literal('form')), message: z.string(), requestedSchema: z.unknown() }),
]);

/** The answer to a server's `elicitation/create`. What goes back matches what the server asked for. */
export async function answerElicitation(asked: unknown, options: ElicitationOptions): Promise<ElicitResult> {
  const parsed = params.safeParse(asked);
  if (!parsed.success) return refused(options, 'asked the user something that does not follow MCP');
  const message = toText(parsed.data.message);
  if ('url' in parsed.data) return askToOpen(parsed.data.url, message, options);
  const fields = fieldsOf(parsed.data.requestedSchema);
  if (!fields)
    return refused(options, 'asked the user for something that is no flat form of at most 20 fields');
  return askForm(fields, message, options);
}

async function askForm(
  fields: readonly FormField[],
  message: string,
  { server, ask, signal }: ElicitationOptions,
): Promise<ElicitResult> {
  const content = new Map<string, ElicitValue>();
  const warning = warningFor(server, message, fields);
  let open = fields;
  let problem: string | undefined;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const shown = open.map(({ least: _, most: __, ...field }): ElicitField => field);
    const question = { server, message, fields: shown, problem, warning };
    const { action, content: given = {} } = await ask(withoutUndefined(question), signal);
    if (action !== 'accept') return { action };
    const problems: string[] = [];
    open = open.filter((field) => {
      const checked = checkValue(field, Object.hasOwn(given, field.name) ? given[field.name] : undefined);
      if ('problem' in checked) problems.push(checked.problem);
      else if (checked.value !== undefined) content.set(field.name, checked.value);
      return 'problem' in checked;
    });
    if (open.length === 0) return { action: 'accept', content: Object.fromEntries(content) };
    problem = problems.join(' ');
  }
  return { action: 'cancel' };
}

/** The user opens the address, or does not. Nothing is fetched from it. */
async function askToOpen(
  address: string,
  message: string,
  options: ElicitationOptions,
): Promise<ElicitResult> {
  const { server, ask, signal } = options;
  const url = tryAddress(address);
  if (!url) return refused(options, 'asked the user to open an address that is not https');
  const { action } = await ask({ server, message, fields: [], url: url.href, host: url.host }, signal);
  return { action };
}

const maxAddress = 4_000;

function tryAddress(address: string): URL | undefined {
  const url = address.length <= maxAddress && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.username + url.password !== '') return undefined;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))
    ? url
    : undefined;
}

function refused({ refuse }: Pick<ElicitationOptions, 'refuse'>, clause: string): ElicitResult {
  refuse(clause);
  return { action: 'decline' };
}

const secret =
  /pass(?:word|phrase|code)|\bpin\b|secret|token|api[ _-]?key|credential|private[ _-]?key|\bcvv\b|card[ _-]?number/i;

function warningFor(server: string, message: string, fields: readonly FormField[]): string | undefined {
  const texts = fields.flatMap(({ type, name, title = '', description = '' }) =>
    type === 'text' || type === 'integer' || type === 'number' ? [`${name} ${title} ${description}`] : [],
  );
  if (texts.length === 0 || ![message, ...texts].some((text) => secret.test(text))) return undefined;
  return `This looks like a question for a secret, which no tool server may ask this way. What you enter goes to ${showLine(server)}.`;
}

function toText(text: string): string {
  return cutText(showControls(toUSVString(cutText(text, maxMessage))), maxMessage).trim();
}

/** A call that runs at a server. */
interface RunningCall {
  readonly elicit: ElicitForCall | undefined;
  readonly signal: AbortSignal;
  /** The user thinks: the time without a sign of the server does not count until `goOn`. */
  readonly pause: () => void;
  readonly goOn: () => void;
}

/** The calls that run at one server, on whose behalf it may ask the user. */
export class RunningCalls {
  readonly #calls = new Set<RunningCall & { questions: number }>();

  /** Returns what ends it. */
  begin(call: RunningCall): () => void {
    const counted = { ...call, questions: 0 };
    this.#calls.add(counted);
    return () => this.#calls.delete(counted);
  }

  /**
   * The signal is aborted when the server withdraws its question. MCP does not say which call a question belongs to: it
   * is the one that began last.
   */
  async elicit(asked: unknown, options: Omit<ElicitationOptions, 'ask'>): Promise<ElicitResult> {
    const call = [...this.#calls].at(-1);
    if (!call) return refused(options, 'asked the user something outside of a call');
    if (++call.questions > maxQuestions)
      return refused(options, `asked the user more than ${maxQuestions} times in one call`);
    const { elicit: ask } = call;
    if (!ask) return { action: 'decline' };
    const open = linkedSignal(options.signal, call.signal);
    call.pause();
    try {
      const answer = answerElicitation(asked, { ...options, ask, signal: open.signal });
      return await orAborted(answer, open.signal);
    } catch {
      // It was withdrawn, or the client could not ask.
      return { action: 'cancel' };
    } finally {
      open.unlink();
      if (this.#calls.has(call)) call.goOn();
    }
  }
}
