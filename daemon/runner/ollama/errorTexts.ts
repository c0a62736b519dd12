import { isRecord, withoutUndefined } from '../../../protocol/base/json.ts';
import { RunnerError } from '../../base/errors.ts';
import {
  contextExceeded,
  detailsOf,
  type ErrorBody,
  type ErrorTexts,
  errorJson,
  figuresInParentheses,
  notSupported,
  runnerFailed,
  type Subject,
  sentenceOf,
} from '../http/answerFailure.ts';

const contextTexts =
  /input length exceeds the context length|longer than the context length|exceeds? the available context size/i;

/** A model that can only be told whether to think, not how much. */
const levelTexts = /think value .*not supported/i;

/** How Ollama says what failed. */
export const ollamaErrors: ErrorTexts = { read: parseErrorBody };

/** The error for an error line in a stream whose status was 200. */
export function failureOfErrorLine(line: string, subject: Subject): RunnerError {
  const text = sentenceOf(line, subject.redact) ?? line;
  return (failureOfText(text, subject) ?? runnerFailed(text)).with(detailsOf(subject));
}

/** Failures that are known by the text alone, whatever the status. */
function failureOfText(text: string, subject: Subject): RunnerError | undefined {
  if (contextTexts.test(text)) return contextExceeded(figuresInParentheses(text) ?? {});
  const capability = levelTexts.test(text) ? 'levels of thinking' : capabilityInText(text);
  return capability === undefined ? failureOfDownload(text, subject) : notSupported(capability, subject);
}

/**
 * Several missing capabilities are separated by newlines. `tools` takes precedence, because the daemon acts on it. Any
 * other word names something that the engine or the driver lacks, so another model would not help.
 */
function capabilityInText(text: string): string | undefined {
  const list = /does not support ([\s\S]*)$/i
    .exec(text)?.[1]
    ?.split(/[\n.]/)
    .map((word) => word.trim().split(/\s/)[0] ?? '');
  const named = list?.filter((word) => capabilityWords.test(word));
  return named?.includes('tools') ? 'tools' : named?.[0];
}

const capabilityWords =
  /^(tools|thinking|vision|insert|completion|chat|generate|embed(ding)?s?|images?|audio)$/i;

/** Reads `{ error, signin_url? }`. */
function parseErrorBody(body: string, subject: Subject): ErrorBody | undefined {
  const value = errorJson(body);
  if (!isRecord(value) || !('error' in value)) return undefined;
  const error = sentenceOf(value, subject.redact) ?? JSON.stringify(value['error']);
  const { signin_url: signin } = value;
  const signinUrl = typeof signin === 'string' && /^https:\/\//i.test(signin) ? signin : undefined;
  return withoutUndefined({ error, signinUrl, failure: failureOfText(error, subject) });
}

/** A full disk, whether a download, an upload or a new model filled it. */
const diskFullText = /no space left|not enough (disk )?space|disk quota exceeded|ENOSPC/i;

/** What the runner says when a download failed, and what that means for the user. The first match applies. */
const sentences: readonly { readonly text: RegExp; readonly explain: (reason: string) => string }[] = [
  {
    text: diskFullText,
    explain: () =>
      'The disk of the runner is full. Free some space, for example by deleting a model, and try again.',
  },
  {
    text: /digest mismatch/i,
    explain: () =>
      'The download is damaged: its digest is not the expected one. Try again; only the damaged part is downloaded again.',
  },
  {
    text: /requires a newer version/i,
    explain: (reason) => `The runner is too old for this model: ${reason}. Update the runner and try again.`,
  },
  {
    text: /server gave HTTP response to HTTPS client|insecure protocol http/i,
    explain: () =>
      'The registry in this name uses plain http, which the runner accepts only from this machine.',
  },
  {
    text: /\b(unauthorized|access denied|denied|forbidden|40[13])\b/i,
    explain: (reason) =>
      `The registry does not let the runner in: ${reason}. Check the name, and whether the model is public.`,
  },
  {
    text: /dial |lookup |no such host|connection (refused|reset)|i\/o timeout|timeout|TLS|unreachable|EOF|max retries exceeded/i,
    explain: (reason) =>
      `The runner could not download: ${reason}. Check the network of the machine where it runs and try again; the download continues where it stopped.`,
  },
];

const downloadText = /^pull model manifest|max retries exceeded|digest mismatch, file must be downloaded/i;

/**
 * The error for a runner's text about a download, from `pull` or from a `create` that pulls, or about a full disk.
 * Undefined for other texts.
 */
function failureOfDownload(text: string, { model }: { readonly model?: string }): RunnerError | undefined {
  if (!downloadText.test(text) && !diskFullText.test(text)) return undefined;
  if (/manifest: (file does not exist|.*(manifest unknown|not found))/i.test(text))
    return unknownModel(model);
  const reason = reasonOf(text);
  const known = sentences.find((sentence) => sentence.text.test(text));
  const message = known?.explain(reason) ?? `The runner could not download: ${reason}. Try again.`;
  return new RunnerError('runner-failed', message);
}

/** The reason without the address that was requested, which the user knows. */
function reasonOf(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/^pull model manifest: (Get "[^"]*": )?/, '')
    .trim()
    .replace(/\.$/, '')
    .slice(0, 500);
}

function unknownModel(model = 'this model'): RunnerError {
  return new RunnerError(
    'model-not-found',
    `The registry does not know ${model}. Check the name and the tag; the library lists the models that exist.`,
  );
}
