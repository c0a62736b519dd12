import { hasOwnEngine } from '../../../protocol/base/platform/folders.ts';
import { anyOf } from '../../../protocol/base/text.ts';
import {
  type Advice,
  type AdviceMessage,
  type AdviceWords,
  configurationAdvice,
  userConfiguration,
} from '../../../protocol/messages/advice.ts';
import { defaultHost } from '../../../protocol/messages/settings.ts';

/** The daemon's advice, as what a user of the terminal can do. */
const words: AdviceWords = {
  ...configurationAdvice,
  'start-runner': ({ problem }) =>
    isOwnStopped(problem, process.env)
      ? `${startOwn}.`
      : 'Start it (for example with "ollama serve" or "llama-server"), or name it with --server URL or OLLAMA_HOST.',
  'check-address': () =>
    `Check the address in --server or OLLAMA_HOST. A name must be that of an entry in "servers" of ${userConfiguration}.`,
  'check-proxy': () =>
    'Check the address in --server or OLLAMA_HOST, and whether there is a proxy in between.',
  'set-address': () => 'Say with --server URL or OLLAMA_HOST where the runner itself answers.',
  'name-ca-file': () => `If it is your own, name its CA file in "caFile" of ${userConfiguration}.`,
  'shorten-prompt': (advice) =>
    `${anyOf('Shorten it', 'start a new conversation ("/clear")', enlarge(advice))}.`,
  'offer-fewer-tools': (advice) =>
    `Most of it describes the tools: ${anyOf('offer fewer tools with "--tools NAME" ("/tools NAME off" in a conversation)', enlarge(advice))}.`,
  'make-room': (advice) =>
    `${anyOf('Start a new conversation ("/clear")', enlarge(advice))} before anything is refused.`,
};

/** What starts the engine of Runner's own. */
export const startOwn = 'Start it with "runner engine start"';

/** Whether the usual runner does not answer, and the engine of Runner's own would take its place. */
export function isOwnStopped(problem: string, env: NodeJS.ProcessEnv): boolean {
  return problem.includes(defaultHost) && !env['OLLAMA_HOST'] && hasOwnEngine(env);
}

/** Undefined if the model can have no window that fits. */
function enlarge({ contextLength }: Advice): string | undefined {
  if (contextLength === 0) return undefined;
  const tokens = contextLength ?? 'N';
  return `set a larger window with "--context ${tokens}" ("/context ${tokens}" in a conversation)`;
}

/** A message of the daemon, with its advice in the words of the terminal. */
export function forTerminal({ message, advice }: AdviceMessage): string {
  if (advice === undefined) return message;
  // A newer daemon may have codes that are unknown here.
  const say: ((advice: Advice) => string) | undefined = words[advice.code];
  return say === undefined ? message : `${advice.problem} ${say(advice)}`;
}
