import type { Advice, AdviceCode, Advised } from '../../protocol/messages/advice.ts';

/** A message that ends in advice. */
export type AdvisedMessage = Required<Advised>;

/** What every client can show as it is. Clients with words of their own go by the code. */
const texts: Readonly<Record<Exclude<AdviceCode, 'use-https' | 'log-in' | 'wait-for-restart'>, string>> = {
  'start-runner': 'Start it (for example with "ollama serve"), or set the runner address.',
  'check-address': 'Check the runner address.',
  'check-proxy': 'Check the runner address, and whether there is a proxy in between.',
  'set-address': 'Set the runner address to where the runner itself answers.',
  'name-ca-file': 'If it is your own, name its CA file in the settings.',
  'set-token': 'Store an access token for this server, or check the one that is stored.',
  'shorten-prompt': 'Shorten it, start a new chat, or set a larger context length.',
  'offer-fewer-tools': 'Most of it describes the tools: offer fewer tools, or set a larger context length.',
  'make-room': 'Start a new chat or set a larger context length before anything is refused.',
  'check-network': 'Check the network, or set runner.catalogUrl; installed models work without it.',
  'set-catalog': 'Set runner.catalogUrl to where a catalog answers; installed models work without it.',
};

/** The message that says what is wrong and what can be done about it. */
export function advise(problem: string, code: keyof typeof texts): AdvisedMessage {
  return withAdvice({ code, problem, text: texts[code] });
}

/** The same advice, about a problem that is said first. */
export function sayAfter(problem: string, { advice }: AdvisedMessage): AdvisedMessage {
  return withAdvice({ ...advice, problem: `${problem} ${advice.problem}` });
}

/** The message for advice whose words depend on what it is about. */
export function withAdvice(advice: Advice): AdvisedMessage {
  return { message: `${advice.problem} ${advice.text}`, advice };
}
