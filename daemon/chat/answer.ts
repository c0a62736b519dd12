import type { StreamRedaction } from '../../protocol/base/redaction.ts';
import type { ChatParams, Message, NoticeCode, ToolCall } from '../../protocol/messages/chat.ts';
import { RunnerError } from '../base/errors.ts';
import { nodesIn } from '../base/nesting.ts';
import type { CallPart, ChatPart, UnreadCall } from '../runner/runner.ts';
import type { DeltaPump } from './deltas.ts';
import { createThinkingQuote, LongText } from './formatting.ts';
import {
  createStreamParser,
  profileForModel,
  type StreamEvent,
  type WarningEvent,
} from './thinkingParser.ts';
import { mendedArguments, RequestTools, type ToolCallEvent, toolShapes } from './toolUtilities.ts';

/** An answer that never ends is stopped at this length: text, thinking and tool calls together, in characters. */
const maxAnswer = 4 * 1024 * 1024;
/** More calls than any turn needs. Each one takes memory beyond its characters. */
const maxCalls = 1_000;
/** Objects, lists and keys in the arguments of all calls. */
const maxNodes = 100_000;
/** Characters of a line that are read before other work gets its turn. */
const pieceLength = 64 * 1024;

interface AnswerOptions {
  readonly params: ChatParams;
  /** Whether the model is known to think. */
  readonly thinks: boolean;
  /** Whether the model's template opens thinking, so that the text begins inside it. */
  readonly startsInThinking: boolean;
  /** Whether the runner leaves calls to whoever reads the answer, so that a call in the text is nothing to report. */
  readonly expectsCallsInText: boolean;
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

/** The answer so far. It also sends its deltas. */
export class Answer {
  readonly #options: AnswerOptions;
  readonly #parser: ReturnType<typeof createStreamParser>;
  readonly #tools: RequestTools;
  readonly #quote: ReturnType<typeof createThinkingQuote> | undefined;
  readonly #text: AnswerText;
  readonly #toolCalls: ToolCall[] = [];
  readonly #unread: ToolCall[] = [];
  /** The thinking, of which the template may have opened the first part. */
  readonly #thoughts = new LongText();
  /** Characters received so far. */
  #size = 0;
  #nodes = 0;
  #isOver = false;
  #hasThought = false;
  #hasText = false;
  #isUnclosed = false;
  #beganInThinking: boolean | undefined;
  /** The runner itself has reported calls. */
  #hasOwnCalls = false;

  constructor(options: AnswerOptions) {
    const { params, thinks, startsInThinking, tools, contextTags, sent, pump, createRedaction } = options;
    const shapes = toolShapes(tools);
    this.#options = options;
    this.#tools = new RequestTools(shapes);
    this.#parser = createStreamParser({
      profile: profileForModel(params.model, thinks),
      tools: shapes,
      startsInThinking,
      contextTags,
      sent,
      dropContextTags: params.dropContextTags === true,
    });
    this.#quote = params.thinkingFormat === 'quote' ? createThinkingQuote() : undefined;
    this.#text = new AnswerText(pump, createRedaction);
  }

  /** Whether anything was sent that cannot be taken back. */
  get begun(): boolean {
    const { text, thinking } = this.#text;
    return text.length > 0 || thinking.length > 0 || this.hasToolCalls;
  }

  /** Calls whose arguments could not be read. They are no part of the message. */
  get unread(): readonly ToolCall[] {
    return this.#unread;
  }

  get hasToolCalls(): boolean {
    return this.#toolCalls.length > 0;
  }

  /** Whether there is anything that is no thinking. */
  get hasText(): boolean {
    return this.#hasText;
  }

  /** Whether the model has thought, in whatever form. */
  get hasThought(): boolean {
    return this.#hasThought;
  }

  /**
   * Whether the text began inside thinking that the template had opened. True if it closed what it had not opened;
   * false if it was taken to begin in thinking and never closed it; undefined if it shows neither.
   */
  get beganInThinking(): boolean | undefined {
    return this.#beganInThinking;
  }

  /**
   * Reads a part, in pieces between which a caller can pause.
   * @throws {RunnerError} `bad-response`, once the answer is larger than the limits.
   */
  *add({ thinking, content, toolCalls, malformed = [] }: ChatPart): Iterable<void> {
    for (const piece of piecesOf(thinking)) {
      this.#count(piece.length);
      for (const event of this.#parser.pushThinking(piece)) this.#emit(event);
      yield;
    }
    for (const piece of piecesOf(content)) {
      this.#count(piece.length);
      for (const event of this.#parser.push(piece)) this.#emit(event);
      yield;
    }
    this.#hasOwnCalls ||= toolCalls.length > 0;
    for (const toolCall of toolCalls) {
      this.#countCall(toolCall);
      this.#call(toolCall);
    }
    for (const call of malformed) this.#mend(call);
  }

  /** Releases what was withheld. Nothing may be added afterwards. */
  finish(reason: string): void {
    this.#isOver = true;
    for (const event of this.#parser.finish(reason)) this.#emit(event);
    if (reason !== 'cancelled' && reason !== 'error') this.#answerWithThoughts();
    if (this.#quote) this.#text.add('text', this.#quote.finish());
    this.#text.end();
  }

  message(): Message {
    const { text, thinking } = this.#text;
    return {
      role: 'assistant',
      content: text.toString(),
      ...(thinking.length === 0 ? {} : { thinking: thinking.toString() }),
      ...(this.hasToolCalls ? { toolCalls: this.#toolCalls } : {}),
    };
  }

  #emit(event: StreamEvent): void {
    if (event.type === 'text') this.#write(event.text);
    if (event.type === 'thinking') this.#think(event.text);
    if (event.type === 'toolCall') this.#recover(event);
    if (event.type === 'warning') this.#warn(event);
  }

  #write(added: string): void {
    this.#hasText = true;
    this.#text.add('text', this.#quote ? this.#quote.text(added) : added);
  }

  #think(added: string): void {
    this.#hasThought = true;
    if (this.#options.startsInThinking) this.#thoughts.add(added);
    if (this.#quote) this.#text.add('text', this.#quote.thinking(added));
    else this.#text.add('thinking', added);
  }

  #recover({ call, fromThinking }: ToolCallEvent): void {
    // A call inside thinking was meant only if the runner has reported no call.
    if (fromThinking && this.#hasOwnCalls) return;
    const message = `The model wrote its call of ${call.name} as text; it was taken as a call.`;
    if (!this.#options.expectsCallsInText) this.#notice('tool-call-recovered', message);
    this.#call(call);
  }

  /** A call whose arguments are no JSON is read as one that stands in the text. */
  #mend({ text, ...call }: UnreadCall): void {
    this.#count(text.length);
    const tool = this.#tools.find(call.name);
    const given = mendedArguments(text, tool);
    if (given) {
      this.#notice(
        'tool-call-recovered',
        `The arguments of a call of ${call.name} were no JSON; they were mended.`,
      );
      return this.#call({ ...call, arguments: given });
    }
    const { id = this.#options.createId() } = call;
    this.#unread.push({ id, name: tool?.name ?? call.name, arguments: {} });
    this.#notice(
      'tool-call-malformed',
      `The arguments of a call of ${call.name || 'a tool'} could not be read, so nothing was called.`,
    );
  }

  #warn({ code, message }: WarningEvent): void {
    if (code === 'malformed-tool-call') this.#notice('tool-call-malformed', message);
    if (code === 'stray-thinking-close' && !this.#hasThought) this.#beganInThinking = true;
    if (code === 'unclosed-thinking') this.#isUnclosed = true;
  }

  #notice(code: NoticeCode, message: string): void {
    this.#text.pause();
    this.#options.notice(code, message);
  }

  #call({ id, name, arguments: given }: CallPart): void {
    if (this.#toolCalls.length === maxCalls) {
      // Releasing the withheld text at the end may find more calls.
      if (this.#isOver) return;
      throw tooLong(`${maxCalls.toLocaleString('en')} tool calls`);
    }
    const { createId, pump } = this.#options;
    // Templates rename tools, and a runner may pass on the name as the model wrote it.
    const toolCall = {
      id: id ?? createId(),
      name: this.#tools.find(name)?.name ?? name,
      arguments: given,
    };
    this.#toolCalls.push(toolCall);
    this.#text.pause();
    pump.push({ kind: 'toolCall', toolCall });
  }

  #count(more: number): void {
    this.#size += more;
    if (this.#size > maxAnswer) throw tooLong('4 million characters');
  }

  #countCall({ id = '', name, arguments: given }: CallPart): void {
    const text = JSON.stringify(given);
    this.#count(id.length + name.length + text.length);
    this.#nodes += nodesIn(text);
    if (this.#nodes > maxNodes) throw tooLong(`${maxNodes.toLocaleString('en')} arguments`);
  }

  /**
   * A reply that begins in thinking and never closes it was the answer. What was shown as thinking is not taken back.
   */
  #answerWithThoughts(): void {
    const { startsInThinking } = this.#options;
    if (!startsInThinking || !this.#isUnclosed || this.#hasText || this.hasToolCalls) return;
    this.#beganInThinking = false;
    this.#write(this.#thoughts.toString());
  }
}

/** The same parts, with neighbouring text in one part. A read of a fast runner holds hundreds of tokens. */
export function* joined(parts: readonly ChatPart[]): Generator<ChatPart> {
  let texts: string[] = [];
  let last: ChatPart | undefined;
  for (const part of parts) {
    if (last && !isText(part)) {
      yield { ...last, content: texts.join('') };
      texts = [];
      last = undefined;
    }
    if (isText(part)) texts.push((last = part).content);
    else yield part;
  }
  if (last) yield { ...last, content: texts.join('') };
}

function isText({ content, thinking, toolCalls, malformed, done }: ChatPart): boolean {
  return content !== '' && thinking === '' && toolCalls.length === 0 && !malformed && !done;
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

type Kind = 'text' | 'thinking';

/**
 * The text and the thinking of an answer. Secrets are removed here, so that the deltas, the message and every copy are
 * the same.
 */
class AnswerText {
  readonly #pump: DeltaPump;
  readonly #redactions: Readonly<Record<Kind, StreamRedaction>>;
  readonly #received = { text: new LongText(), thinking: new LongText() };

  constructor(pump: DeltaPump, createRedaction: () => StreamRedaction) {
    this.#pump = pump;
    this.#redactions = { text: createRedaction(), thinking: createRedaction() };
  }

  get text(): LongText {
    return this.#received.text;
  }

  get thinking(): LongText {
    return this.#received.thinking;
  }

  add(kind: Kind, added: string): void {
    const other = kind === 'text' ? 'thinking' : 'text';
    this.#send(other, this.#redactions[other].pause());
    this.#send(kind, this.#redactions[kind].add(added));
  }

  /** Something other than text comes next. */
  pause(): void {
    for (const kind of ['thinking', 'text'] as const) this.#send(kind, this.#redactions[kind].pause());
  }

  end(): void {
    for (const kind of ['thinking', 'text'] as const) this.#send(kind, this.#redactions[kind].end());
  }

  #send(kind: Kind, text: string): void {
    if (text === '') return;
    this.#received[kind].add(text);
    this.#pump.push({ kind, text });
  }
}
