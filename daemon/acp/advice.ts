import { hasOwnEngine } from '../../protocol/base/platform/folders.ts';
import { anyOf } from '../../protocol/base/text.ts';
import {
  type Advice,
  type AdviceMessage,
  type AdviceWords,
  configurationAdvice,
  userConfiguration,
} from '../../protocol/messages/advice.ts';
import { defaultHost } from '../../protocol/messages/settings.ts';

const entry = 'OLLAMA_HOST in the "env" of the agent\'s entry in your editor';

/** The daemon's advice, for a user whose editor knows Runner only as an agent. */
const words: AdviceWords = {
  ...configurationAdvice,
  'start-runner': ({ problem }) =>
    problem.includes(defaultHost) && !process.env['OLLAMA_HOST'] && hasOwnEngine(process.env)
      ? 'Start it with "runner engine start".'
      : `Start it (for example with "ollama serve" or "llama-server"), or name it as "host" in ${userConfiguration} or as ${entry}.`,
  'check-address': () => `Check "host" in ${userConfiguration}, or ${entry}.`,
  'check-proxy': () =>
    `Check "host" in ${userConfiguration}, or ${entry}, and whether there is a proxy in between.`,
  'set-address': () =>
    `Say as "host" in ${userConfiguration}, or as ${entry}, where the runner itself answers.`,
  'name-ca-file': () => `If it is your own, name its CA file as "caFile" in ${userConfiguration}.`,
  'shorten-prompt': (advice) => `${anyOf('Shorten it', 'start a new conversation', enlarge(advice))}.`,
  'offer-fewer-tools': (advice) =>
    `Most of it describes the tools: ${anyOf(`switch off some tool servers in your editor or in ${userConfiguration}`, enlarge(advice))}.`,
  'make-room': (advice) =>
    `${anyOf('Start a new conversation', enlarge(advice))} before anything is refused.`,
};

/** Undefined if the model can have no window that fits. */
function enlarge({ contextLength }: Advice): string | undefined {
  if (contextLength === 0) return undefined;
  return contextLength === undefined
    ? `set a larger "contextLength" in ${userConfiguration}`
    : `set "contextLength" to ${contextLength} in ${userConfiguration}`;
}

/** A message of the daemon, with its advice in words for an editor over the Agent Client Protocol. */
export function forAgentClient({ message, advice }: AdviceMessage): string {
  return advice === undefined ? message : `${advice.problem} ${words[advice.code](advice)}`;
}
