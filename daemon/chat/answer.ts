import { isRecord } from '../../protocol/base/json.ts';
import type { StreamRedaction } from '../../protocol/base/redaction.ts';
import type { ChatParams, Message, Notice, NoticeCode, ToolCall } from '../../protocol/messages/chat.ts';
import { RunnerError } from '../base/errors.ts';
import { nodesIn } from '../base/nesting.ts';
import type { CallPart, ChatPart, UnreadCall } from '../runner/runner.ts';
import { AnswerText } from './answerText.ts';
import type { sentContext } from './chatPlan.ts';
import type { DeltaPump } from './deltas.ts';
import { LongText, ThinkingQuote } from './formatting.ts';
import {
  afterLeadingThinking,
  profileForModel,
  type StreamEvent,
  StreamParser,
  type WarningEvent,
} from './thinkingParser.ts';
import { mendedArguments, RequestTools, toolShapes } from './toolUtilities.ts';

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
  /** Names of elements. One that repeats an element of `sent` is not shown. */
  readonly contextTags: readonly string[];
  readonly sent: ReturnType<typeof sentContext>;
  readonly pump: DeltaPump;
  readonly notice: (notice: Notice) => void;
  /** Creates an id for a tool call that came without one. */
  readonly createId: () => string;
  /** Removes secrets from what the runner writes, one for each kind of text. */
  readonly createRedaction: () => StreamRedaction;
}

/** The answer so far. It also sends its deltas. */
export class RoundAnswer {
  readonly #options: AnswerOptions;
  readonly #parser: StreamParser;
  readonly #tools: RequestTools;
  readonly #quote: ThinkingQuote | undefined;
  readonly #text: AnswerText;
  readonly #toolCalls: ToolCall[] = [];
  /** Calls that were met. Only the whole answer shows which of them count. */
  readonly #met: MetCall[] = [];
  /** Calls that were mended, or that were still open at the end of the answer. */
  readonly #doubtful = new Set<CallPart>();
  /** Whether the last call may lack its end, if the answer was cut. */
  hasDoubtfulEnd = false;
  /** Calls whose arguments neither the runner nor we could read. They are no part of the message. */
  unread: ToolCall[] = [];
  readonly #thoughts = new LongText();
  /** Separate thinking that the text has not repeated yet; undefined once the text thinks something else. */
  #separate: string | undefined = '';
  /** The echoes that were removed. */
  readonly #echoes = new LongText();
  /** Characters received so far. */
  #size = 0;
  #nodes = 0;
  #isOver = false;
  /** Whether the model has thought, in whatever form. */
  hasThought = false;
  /** Whether there is anything that is no thinking. */
  hasText = false;
  #isUnclosed = false;
  /**
   * Whether the text began inside thinking that the template had opened. True if it closed what it had not opened;
   * false if it was taken to begin in thinking and never closed it; undefined if it shows neither.
   */
  beganInThinking: boolean | undefined;

  constructor(options: AnswerOptions) {
    const { params, thinks, startsInThinking, tools, contextTags, sent, pump, createRedaction } = options;
    const shapes = toolShapes(tools);
    this.#options = options;
    this.#tools = new RequestTools(shapes);
    this.#parser = new StreamParser({
      profile: profileForModel(params.model, thinks),
      tools: shapes,
      startsInThinking,
      contextTags,
      sent,
      dropContextTags: params.dropContextTags === true,
    });
    this.#quote = params.thinkingFormat === 'quote' ? new ThinkingQuote() : undefined;
    this.#text = new AnswerText(pump, createRedaction);
  }

  /** Whether anything was sent that cannot be taken back. */
  get begun(): boolean {
    const { text, thinking } = this.#text.received;
    return text.length > 0 || thinking.length > 0 || this.#met.length > 0;
  }

  get hasToolCalls(): boolean {
    return this.#toolCalls.length > 0;
  }

  get isEmpty(): boolean {
    return !this.hasText && !this.hasToolCalls && this.unread.length === 0;
  }

  /**
   * Reads a part, in pieces between which a caller can pause.
   * @throws {RunnerError} `bad-response`, once the answer is larger than the limits.
   */
  *add({ thinking, content, toolCalls, malformed = [] }: ChatPart): Iterable<void> {
    for (const piece of piecesOf(thinking)) {
      this.#count(piece.length);
      if (this.#separate !== undefined) this.#separate += piece;
      for (const event of this.#parser.pushThinking(piece)) this.#emit(event);
      yield;
    }
    for (const piece of piecesOf(content)) {
      this.#count(piece.length);
      for (const event of this.#parser.push(piece)) if (!this.#isRepeated(event)) this.#emit(event);
      yield;
    }
    for (const toolCall of toolCalls) {
      this.#countCall(toolCall);
      // Templates rename tools, and a runner may pass on the name as the model wrote it.
      const name = this.#tools.find(toolCall.name)?.name ?? toolCall.name;
      this.#meet({ call: { ...toolCall, name }, from: 'runner' });
    }
    for (const call of malformed) this.#mend(call);
  }

  /** Releases what was withheld. Nothing may be added afterwards. */
  finish(reason: string): void {
    this.#isOver = true;
    for (const event of this.#parser.finish(reason)) this.#emit(event);
    this.#makeCalls();
    if (reason !== 'cancelled' && reason !== 'error') {
      this.#answerWithThoughts(reason);
      if (!this.hasText && !this.hasToolCalls) this.#write(this.#echoes.toString());
    }
    if (this.#quote) this.#text.add('text', this.#quote.finish());
    this.#text.end();
  }

  message(): Message {
    const { text, thinking } = this.#text.received;
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
    if (event.type === 'context') this.#echoes.add(event.text);
    if (event.type === 'toolCall')
      this.#meet({ call: event.call, from: event.fromThinking ? 'thinking' : 'text' }, this.#isOver);
    if (event.type === 'warning') this.#warn(event);
  }

  /** Whether an event is thinking in the text that the runner has separated too, as for an older client. */
  #isRepeated(event: StreamEvent): boolean {
    if (event.type !== 'thinking' || !this.#separate) return false;
    const [ahead, said] = [this.#separate.trimStart(), event.text.trim()];
    const isSame = ahead.startsWith(said);
    this.#separate = isSame ? ahead.slice(said.length) : undefined;
    return isSame;
  }

  #write(added: string): void {
    this.hasText ||= added.trim() !== '';
    this.#text.add('text', this.#quote ? this.#quote.text(added) : added);
  }

  #think(added: string): void {
    this.hasThought = true;
    this.#thoughts.add(added);
    if (this.#quote) this.#text.add('text', this.#quote.thinking(added));
    else this.#text.add('thinking', added);
  }

  #meet(call: MetCall, isDoubtful = false): void {
    if (isDoubtful) this.#doubtful.add(call.call);
    if (this.#met.length < maxCalls) this.#met.push(call);
    // Releasing the withheld text at the end may find more calls.
    else if (!this.#isOver) throw tooLong(`${maxCalls.toLocaleString('en')} tool calls`);
  }

  /**
   * Makes the calls that count, in their order. A server may report a call and leave it in the text too. Then the text
   * is an echo of the call. But if the schema refuses what was reported, the text has the arguments that the model
   * wrote. A call inside thinking was meant only if the runner has reported none.
   */
  #makeCalls(): void {
    const isRefused = ({ call }: MetCall) => this.#tools.refuses(call.name, call.arguments);
    const namesOf = (some: readonly MetCall[]) => new Set(some.map(({ call }) => call.name));
    const reported = this.#met.filter(({ from }) => from === 'runner');
    const refused = namesOf(reported.filter(isRefused));
    const written = namesOf(this.#met.filter((one) => one.from !== 'runner' && !isRefused(one)));
    const echoes = new Set(reported.map(({ call }) => keyOf(call)));
    for (const one of this.#met) {
      const { call, from } = one;
      if (from === 'runner' ? written.has(call.name) && isRefused(one) : echoes.has(keyOf(call))) continue;
      if (from === 'thinking' && reported.length > 0 && !refused.has(call.name)) continue;
      const message = `The model wrote its call of ${call.name} as text; it was taken as a call.`;
      if (from !== 'runner' && !this.#options.expectsCallsInText)
        this.#notice('tool-call-recovered', message);
      this.#call(call);
      this.hasDoubtfulEnd = this.#doubtful.has(call);
    }
    this.unread = this.unread.filter(({ name }) => !written.has(name));
    this.hasDoubtfulEnd ||= this.unread.length > 0;
    for (const { name } of this.unread) {
      const message = `The arguments of a call of ${name || 'a tool'} could not be read, so nothing was called.`;
      this.#notice('tool-call-malformed', message);
    }
  }

  /** A call whose arguments are no JSON is read as one that stands in the text. */
  #mend({ text, ...call }: UnreadCall): void {
    this.#count(text.length);
    const tool = this.#tools.find(call.name);
    const name = tool?.name ?? call.name;
    const given = mendedArguments(text, tool);
    if (given) {
      this.#notice(
        'tool-call-recovered',
        `The arguments of a call of ${name} were no JSON; they were mended.`,
      );
      this.#meet({ call: { ...call, name, arguments: given }, from: 'runner' }, true);
    } else {
      const { id = this.#options.createId() } = call;
      this.unread.push({ id, name, arguments: {} });
    }
  }

  #warn({ code, message }: WarningEvent): void {
    const isUncalled = code === 'call-in-thinking' && this.#met.every(({ from }) => from !== 'runner');
    if (code === 'malformed-tool-call' || isUncalled) this.#notice('tool-call-malformed', message);
    if (code === 'stray-thinking-close' && !this.hasThought) this.beganInThinking = true;
    if (code === 'unclosed-thinking') this.#isUnclosed = true;
  }

  #notice(code: NoticeCode, message: string): void {
    this.#text.pause();
    this.#options.notice({ code, message });
  }

  #call({ id, name, arguments: given }: CallPart): void {
    const { createId, pump } = this.#options;
    const toolCall = { id: id ?? createId(), name, arguments: given };
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
   * A reply that begins in thinking and never closes it was the answer. Thinking that closes in what the runner has
   * separated has the answer after it. What was shown as thinking is not taken back.
   */
  #answerWithThoughts(reason: string): void {
    if (this.hasText || this.hasToolCalls) return;
    const thoughts = this.#thoughts.toString();
    if (this.#options.startsInThinking && this.#isUnclosed) {
      this.beganInThinking = false;
      this.#write(thoughts);
    } else if (reason === 'stop') this.#write(afterLeadingThinking(`<think>${thoughts}`));
  }
}

/** The same for two calls with the same arguments, in whatever order. */
function keyOf({ name, arguments: given }: CallPart): string {
  return JSON.stringify([name, given], (_, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort()) : value,
  );
}

/** A call, and where it came from. */
interface MetCall {
  readonly call: CallPart;
  readonly from: 'runner' | 'text' | 'thinking';
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
