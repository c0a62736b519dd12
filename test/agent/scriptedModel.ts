import { startStandIn } from '../support/runnerStandIn.ts';

/** What the model does next: it calls a tool, or says a text, which ends its answer. */
export type Move = string | readonly [tool: string, given: Readonly<Record<string, unknown>>];

/** A model that reacts: it makes a move, and is given what it reads next, a result or a prompt. */
export type Model = () => Generator<Move, string, string>;

/** What an answer of the model cost. */
export interface Figures {
  rounds: number;
  /** Tokens of the largest prompt. */
  largest: number;
  /** Tokens of all prompts together. */
  tokens: number;
}

interface SentBody {
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly unknown[];
}

/** A runner with one model, which is begun anew, and notes what it reads. */
export async function serveModel(model: Model) {
  const moves = model();
  const answered = new Set<object>();
  const figures: Figures = { rounds: 0, largest: 0, tokens: 0 };
  let isBegun = false;
  let answers = 0;
  let sent = '';
  const runner = await startStandIn({
    models: [{ name: 'scripted:8b', capabilities: ['completion', 'tools'], contextLength: 40_960 }],
    // It is called again once the body is read, and once the answer is over.
    onRequest(request) {
      const { messages = [], tools } = (request.body ?? {}) as SentBody;
      if (request.path !== '/api/chat' || messages.length === 0 || answered.has(request)) return;
      answered.add(request);
      sent += JSON.stringify(request.body);
      const tokens = tokensOf(messages, tools ?? []);
      figures.rounds += 1;
      figures.largest = Math.max(figures.largest, tokens);
      figures.tokens += tokens;
      const say = (text: string) => {
        answers += 1;
        runner.say(text);
      };
      if (!tools?.length) return say('I stop here.');
      const { value: move } = isBegun ? moves.next(messages.at(-1)?.content ?? '') : moves.next();
      isBegun = true;
      if (move === undefined || typeof move === 'string') return say(move ?? 'Done.');
      runner.toolCalls([{ id: `call_${figures.rounds}`, name: move[0], arguments: move[1] }]);
    },
  });
  const { url, close } = runner;
  return { url, close, figures, sent: () => sent, answers: () => answers };
}

/** As Qwen3 counts: about 4 characters of code for a token, 4.5 of a tool's description. */
function tokensOf(messages: readonly object[], tools: readonly unknown[]): number {
  const words = messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
  return Math.ceil(words / 4 + JSON.stringify(tools).length / 4.5);
}
