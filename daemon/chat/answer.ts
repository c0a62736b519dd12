import type { ChatParams, Message, NoticeCode, ToolCall } from '../../protocol/chat.ts';
import { RunnerError } from '../errors.ts';
import type { ChatLine, WireToolCall } from '../runner/wire.ts';
import type { DeltaPump } from './deltas.ts';
import { createThinkingQuote } from './formatting.ts';
import { createStreamParser, profileForModel, type StreamEvent } from './thinkingParser.ts';
import { OfferedTools, type ToolCallEvent, toolShapes } from './toolUtilities.ts';

/** A model that never ends is stopped here, in characters. */
const maxAnswer = 64 * 1024 * 1024;

/** What has come of an answer, and the deltas that tell it. */
export interface Answer {
  /** Whether anything was sent that cannot be unsent. */
  readonly begun: boolean;
  readonly hasToolCalls: boolean;
  /** Whether the model has thought, whatever form that had. */
  readonly hasThought: boolean;
  add(line: ChatLine): void;
  /** Gives back what was withheld; nothing may be added after it. */
  finish(reason: string): void;
  message(): Message;
}

export interface AnswerOptions {
  readonly params: ChatParams;
  /** Whether the model is known to think. */
  readonly thinks: boolean;
  /** The tools that were sent, which alone are recovered from text. */
  readonly tools: NonNullable<ChatParams['tools']>;
  /** Element names whose echoed blocks are not shown. */
  readonly contextTags: readonly string[];
  readonly pump: DeltaPump;
  readonly notice: (code: NoticeCode, message: string) => void;
  /** A new id for a tool call that came without one. */
  readonly createId: () => string;
}

export function createAnswer(options: AnswerOptions): Answer {
  const { params, thinks, tools, contextTags, pump, notice, createId } = options;
  const shapes = toolShapes(tools);
  const offered = new OfferedTools(shapes);
  const parser = createStreamParser({
    profile: profileForModel(params.model, thinks),
    tools: shapes,
    contextTags,
  });
  const quote = params.thinkingFormat === 'quote' ? createThinkingQuote() : undefined;
  const toolCalls: ToolCall[] = [];
  let text = '';
  let thinking = '';
  let hasThought = false;
  /** The runner has told calls itself. */
  let hasOwnCalls = false;

  const say = (added: string) => {
    if (added === '') return;
    text += added;
    if (text.length > maxAnswer) throw tooLong();
    pump.push({ kind: 'text', text: added });
  };
  const think = (added: string) => {
    hasThought = true;
    if (quote) return say(quote.thinking(added));
    thinking += added;
    if (thinking.length > maxAnswer) throw tooLong();
    pump.push({ kind: 'thinking', text: added });
  };
  const call = ({ id, name, arguments: given }: WireToolCall) => {
    // Templates rename tools, and a runner may pass on the name that the model has written.
    const toolCall = { id: id ?? createId(), name: offered.find(name)?.name ?? name, arguments: given };
    toolCalls.push(toolCall);
    pump.push({ kind: 'toolCall', toolCall });
  };
  const recover = ({ call: written, fromThinking }: ToolCallEvent) => {
    // A call in the thoughts was meant only if the runner has told none.
    if (fromThinking && hasOwnCalls) return;
    const message = `The model wrote its call of ${written.name} as text; it was taken as a call.`;
    notice('tool-call-recovered', message);
    call(written);
  };
  const tell = (event: StreamEvent) => {
    if (event.type === 'text') say(quote ? quote.text(event.text) : event.text);
    if (event.type === 'thinking') think(event.text);
    if (event.type === 'toolCall') recover(event);
    if (event.type === 'warning' && event.code === 'malformed-tool-call')
      notice('tool-call-malformed', event.message);
  };

  return {
    get begun() {
      return text !== '' || thinking !== '' || toolCalls.length > 0;
    },
    get hasToolCalls() {
      return toolCalls.length > 0;
    },
    get hasThought() {
      return hasThought;
    },
    add(line) {
      if (line.thinking !== '') for (const event of parser.pushThinking(line.thinking)) tell(event);
      if (line.content !== '') for (const event of parser.push(line.content)) tell(event);
      hasOwnCalls ||= line.toolCalls.length > 0;
      for (const toolCall of line.toolCalls) call(toolCall);
    },
    finish(reason) {
      for (const event of parser.finish(reason)) tell(event);
      if (quote) say(quote.finish());
    },
    message: () => ({
      role: 'assistant',
      content: text,
      ...(thinking === '' ? {} : { thinking }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    }),
  };
}

function tooLong(): RunnerError {
  return new RunnerError(
    'bad-response',
    'The answer has grown beyond 64 MB and was stopped. Set a limit with the option num_predict.',
  );
}
