import { RunnerError } from '../errors.ts';

/** What the runner says when a download failed, and what that means for the user. The first that fits holds. */
const sentences: readonly { readonly text: RegExp; readonly tell: (reason: string) => string }[] = [
  {
    text: /no space left|not enough (disk )?space|disk quota|ENOSPC/i,
    tell: () =>
      'The disk of the runner is full. Free some space, for example by deleting a model, and try again.',
  },
  {
    text: /digest mismatch/i,
    tell: () =>
      'What was downloaded is damaged: its digest is not the one that was promised. Try again; only the damaged part is downloaded anew.',
  },
  {
    text: /requires a newer version/i,
    tell: (reason) => `The runner is too old for this model: ${reason}. Update the runner and try again.`,
  },
  {
    text: /server gave HTTP response to HTTPS client|insecure protocol http/i,
    tell: () => 'The registry in this name speaks plain http, which the runner takes only from this machine.',
  },
  {
    text: /\b(unauthorized|access denied|denied|forbidden|40[13])\b/i,
    tell: (reason) =>
      `The registry does not let the runner in: ${reason}. Check the name, and whether the model is public.`,
  },
  {
    text: /dial |lookup |no such host|connection (refused|reset)|i\/o timeout|timeout|TLS|unreachable|EOF|max retries exceeded/i,
    tell: (reason) =>
      `The runner could not download: ${reason}. Check the network of the machine where it runs and try again; it goes on from where it stopped.`,
  },
];

const isDownload =
  /^pull model manifest|max retries exceeded|digest mismatch, file must be downloaded|no space left/i;

/** The error for a text of the runner about a download, of `pull` or of a `create` that pulls; else undefined. */
export function failureOfDownload(
  text: string,
  { model }: { readonly model?: string },
): RunnerError | undefined {
  if (!isDownload.test(text)) return undefined;
  if (/manifest: (file does not exist|.*(manifest unknown|not found))/i.test(text))
    return unknownModel(model);
  const reason = reasonOf(text);
  const known = sentences.find((sentence) => sentence.text.test(text));
  const message = known?.tell(reason) ?? `The runner could not download: ${reason}. Try again.`;
  return new RunnerError('runner-failed', message);
}

/** Without what was being asked for: the user knows that. */
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
    `The registry does not know ${model}. Check the name and the tag; the library lists what there is.`,
  );
}
