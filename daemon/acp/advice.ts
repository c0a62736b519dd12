import { anyOf } from '../../protocol/base/text.ts';
import type { Advice, AdviceCode, Advised } from '../../protocol/messages/advice.ts';

const configuration = '~/.config/runner/config.json';
const entry = 'OLLAMA_HOST in the "env" of the agent\'s entry in your editor';

/** The daemon's advice, for a user whose editor knows Runner only as an agent. */
const words: Readonly<Record<AdviceCode, (advice: Advice) => string>> = {
  'start-runner': () =>
    `Start it (for example with "ollama serve"), or name it as "host" in ${configuration} or as ${entry}.`,
  'check-address': () => `Check "host" in ${configuration}, or ${entry}.`,
  'check-proxy': () =>
    `Check "host" in ${configuration}, or ${entry}, and whether there is a proxy in between.`,
  'set-address': () => `Say as "host" in ${configuration}, or as ${entry}, where the runner itself answers.`,
  'name-ca-file': () => `If it is your own, name its CA file as "caFile" in ${configuration}.`,
  'set-token': () => `Say in "auth" of ${configuration} where its token is, or check the one that is there.`,
  'use-https': ({ text }) => text,
  'shorten-prompt': (advice) => `${anyOf('Shorten it', 'start a new conversation', enlarge(advice))}.`,
  'offer-fewer-tools': (advice) =>
    `Most of it describes the tools: ${anyOf(`switch off some tool servers in your editor or in ${configuration}`, enlarge(advice))}.`,
  'make-room': (advice) =>
    `${anyOf('Start a new conversation', enlarge(advice))} before anything is refused.`,
  'log-in': ({ text }) => text,
  'wait-for-restart': ({ text }) => text,
  'check-network': () =>
    `Check the network, or set "catalogUrl" in ${configuration}; installed models work without it.`,
  'set-catalog': () =>
    `Set "catalogUrl" in ${configuration} to where a catalog answers; installed models work without it.`,
};

/** Undefined if the model can have no window that fits. */
function enlarge({ contextLength }: Advice): string | undefined {
  if (contextLength === 0) return undefined;
  return contextLength === undefined
    ? `set a larger "contextLength" in ${configuration}`
    : `set "contextLength" to ${contextLength} in ${configuration}`;
}

/** A message of the daemon, with its advice in words for an editor over the Agent Client Protocol. */
export function forAgentClient({ message, advice }: Advised): string {
  return advice === undefined ? message : `${advice.problem} ${words[advice.code](advice)}`;
}
