import type { ChatParams, Message, NoticeCode, ToolCall } from '../../protocol/messages/chat.ts';
import { RunnerError } from '../base/errors.ts';
import { nodesIn } from '../base/nesting.ts';
import type { StreamRedaction } from '../config/streamRedaction.ts';
import type { ChatLine, WireToolCall } from '../runner/wire.ts';
import { AnswerText } from './answerText.ts';
import type { DeltaPump } from './deltas.ts';
import { createThinkingQuote, LongText } from './formatting.ts';
import {
  createStreamParser,
  profileForModel,
  type StreamEvent,
  type WarningEvent,
} from './thinkingParser.ts';
import { OfferedTools, type ToolCallEvent, toolShapes } from './toolUtilities.ts';

/** An answer that never ends is stopped at this length: text, thinking and tool calls together, in characters. */
const maxAnswer = 4 * 1024 * 1024;
/** No turn needs more, and each call takes memory beyond its characters. */
const maxCalls = 1_000;
/** Objects, lists and keys in the arguments of all calls. */
const maxNodes = 100_000;
/** How much of a line is read before everything else gets its turn, in characters. */
const pieceLength = 64 * 1024;

/** The answer so far. It also sends its deltas. */
export interface Answer {
  /** Whether anything was sent that cannot be taken back. */
  readonly begun: boolean;
  readonly hasToolCalls: boolean;
  /** Whether the model has thought, in whatever form. */
  readonly hasThought: boolean;
  /**
   * Whether the text began inside thinking that the template had opened. True if it closed what it had not opened; false
   * if it was taken to begin in thinking and never closed it; undefined if it shows neither.
   */
  readonly beganInThinking: boolean | undefined;
  /**
   * Reads a line, in pieces between which a caller can pause.
   * @throws {RunnerError} `bad-response`, once the answer is larger than the limits.
   */
  add(line: ChatLine): Iterable<void>;
  /** Releases what was withheld. Nothing may be added afterwards. */
  finish(reason: string): void;
  message(): Message;
}

export interface AnswerOptions {
  readonly params: ChatParams;
  /** Whether the model is known to think. */
  readonly thinks: boolean;
  /** Whether the model's template opens thinking, so that the text begins inside it. */
  readonly startsInThinking: boolean;
  /** The tools that were sent. Only calls of these are recovered from text. */
  readonly tools: NonNullable<ChatParams['tools']>;
  /** Names of elements. A block of these names is not shown if its content stands in `sent`. */
  readonly contextTags: readonly string[];
  /** The texts that were sent. */
  readonly sent: readonly string[];
  readonly pump: DeltaPump;
  readonly notice: (code: NoticeCode, message: string) => void;
  /** Creates an id for a tool call that came without one. */
  readonly createId: () => string;
  /** Removes secrets from what the runner writes, one for each kind of text. */
  readonly createRedaction: () => StreamRedaction;
}

export function createAnswer(options: AnswerOptions): Answer {
  const { params, thinks, startsInThinking, tools, contextTags, sent } = options;
  const { pump, createId, createRedaction } = options;
  const shapes = toolShapes(tools);
  const offered = new OfferedTools(shapes);
  const parser = createStreamParser({
    profile: profileForModel(params.model, thinks),
    tools: shapes,
    ...{ startsInThinking, contextTags, sent, dropContextTags: params.dropContextTags === true },
  });
  const quote = params.thinkingFormat === 'quote' ? createThinkingQuote() : undefined;
  const toolCalls: ToolCall[] = [];
  const said = new AnswerText(pump, createRedaction);
  /** Characters received so far. */
  let size = 0;
  let nodes = 0;
  let isOver = false;
  let hasThought = false;
  /** The thinking, of which the template may have opened the first part. */
  const thoughts = new LongText();
  let hasText = false;
  let isUnclosed = false;
  let beganInThinking: boolean | undefined;
  /** The runner itself has reported calls. */
  let hasOwnCalls = false;

  const count = (more: number) => {
    size += more;
    if (size > maxAnswer) throw tooLong('4 million characters');
  };
  const countCall = ({ id = '', name, arguments: given }: WireToolCall) => {
    const text = JSON.stringify(given);
    count(id.length + name.length + text.length);
    nodes += nodesIn(text);
    if (nodes > maxNodes) throw tooLong(`${maxNodes.toLocaleString('en')} arguments`);
  };
  const write = (added: string) => {
    hasText = true;
    said.add('text', quote ? quote.text(added) : added);
  };
  const think = (added: string) => {
    hasThought = true;
    if (startsInThinking) thoughts.add(added);
    if (quote) said.add('text', quote.thinking(added));
    else said.add('thinking', added);
  };
  const notice: AnswerOptions['notice'] = (...given) => {
    said.pause();
    options.notice(...given);
  };
  const call = ({ id, name, arguments: given }: WireToolCall) => {
    if (toolCalls.length === maxCalls) {
      // Releasing the withheld text at the end may yield more calls.
      if (isOver) return;
      throw tooLong(`${maxCalls.toLocaleString('en')} tool calls`);
    }
    // Templates rename tools, and a runner may pass on the name as the model wrote it.
    const toolCall = { id: id ?? createId(), name: offered.find(name)?.name ?? name, arguments: given };
    toolCalls.push(toolCall);
    said.pause();
    pump.push({ kind: 'toolCall', toolCall });
  };
  const recover = ({ call: written, fromThinking }: ToolCallEvent) => {
    // A call inside thinking was meant only if the runner has reported no call.
    if (fromThinking && hasOwnCalls) return;
    const message = `The model wrote its call of ${written.name} as text; it was taken as a call.`;
    notice('tool-call-recovered', message);
    call(written);
  };
  const emit = (event: StreamEvent) => {
    if (event.type === 'text') write(event.text);
    if (event.type === 'thinking') think(event.text);
    if (event.type === 'toolCall') recover(event);
    if (event.type === 'warning') warn(event);
  };
  const warn = ({ code, message }: WarningEvent) => {
    if (code === 'malformed-tool-call') notice('tool-call-malformed', message);
    if (code === 'stray-thinking-close' && !hasThought) beganInThinking = true;
    if (code === 'unclosed-thinking') isUnclosed = true;
  };
  /** A reply that begins in thinking and never closes it was the answer. What was shown as thinking stays so. */
  const answerWithThoughts = () => {
    if (!startsInThinking || !isUnclosed || hasText || toolCalls.length > 0) return;
    beganInThinking = false;
    write(thoughts.toString());
  };

  return {
    get begun() {
      return said.text.length > 0 || said.thinking.length > 0 || toolCalls.length > 0;
    },
    get hasToolCalls() {
      return toolCalls.length > 0;
    },
    get hasThought() {
      return hasThought;
    },
    get beganInThinking() {
      return beganInThinking;
    },
    *add({ thinking: thought, content, toolCalls: calls }) {
      for (const piece of piecesOf(thought)) {
        count(piece.length);
        for (const event of parser.pushThinking(piece)) emit(event);
        yield;
      }
      for (const piece of piecesOf(content)) {
        count(piece.length);
        for (const event of parser.push(piece)) emit(event);
        yield;
      }
      hasOwnCalls ||= calls.length > 0;
      for (const toolCall of calls) {
        countCall(toolCall);
        call(toolCall);
      }
    },
    finish(reason) {
      isOver = true;
      for (const event of parser.finish(reason)) emit(event);
      if (reason !== 'cancelled' && reason !== 'error') answerWithThoughts();
      if (quote) said.add('text', quote.finish());
      said.end();
    },
    message: () => ({
      role: 'assistant',
      content: said.text.toString(),
      ...(said.thinking.length === 0 ? {} : { thinking: said.thinking.toString() }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    }),
  };
}

function piecesOf(text: string): readonly string[] {
  if (text.length <= pieceLength) return text === '' ? [] : [text];
  return Array.from({ length: Math.ceil(text.length / pieceLength) }, (_, index) =>
    text.slice(index * pieceLength, (index + 1) * pieceLength),
  );
}

function tooLong(what: string): RunnerError {
  return new RunnerError(
    'bad-response',
    `The answer has grown beyond ${what} and was stopped. Set a limit with the option num_predict.`,
  );
}
