import { tryJson } from '../../../protocol/base/json.ts';
import type { NativeLibrary, NativeModelHandle, Token } from './library.ts';
import type { PromptTokens } from './promptTokens.ts';
import { ApiError, badRequest, type ChatBody, type ChatMessage } from './requests.ts';

/** What is used where a model brings no template, or one that cannot be read, as in llama.cpp. */
const chatMl =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/** A prompt as the model reads it. */
export interface EnginePrompt {
  readonly tokens: Token[];
  readonly text: string;
  /** The tag of thinking that the template opened, which belongs to the answer, since no token of it says so. */
  readonly opened: string;
}

/** What a template does with a conversation. */
interface Abilities {
  readonly tools: boolean;
  readonly calls: boolean;
  readonly system: boolean;
  /** Whether arguments of calls are read as objects, or as JSON text. */
  readonly objectArguments: boolean;
  /** Whether contents are read as lists of parts. */
  readonly onlyParts: boolean;
}

/** Writes conversations as the model's own template does. */
export class ChatPrompts {
  readonly source: string;
  readonly abilities: Abilities;
  /** Where an answer ends, if the model has no token that says so. */
  readonly stops: readonly string[];
  readonly #template: { render(values: object): string };

  constructor(
    { Template }: NativeLibrary,
    private readonly model: NativeModelHandle,
    private readonly tokens: PromptTokens,
  ) {
    const own = tryTemplate(Template, model.fileInfo.metadata.tokenizer?.chat_template);
    this.source = own?.source ?? chatMl;
    this.stops = own ? [] : ['<|im_end|>'];
    this.#template = own?.template ?? new Template(chatMl);
    this.abilities = this.#findAbilities();
  }

  /** @throws {ApiError} for what the template refuses, and for images. */
  prompt(body: ChatBody): EnginePrompt {
    const { tokens, text } = this.tokens.write(() => {
      const messages = this.#messagesOf(body.messages).map((message) => this.#protected(message));
      const offers = body.tools?.length && body.tool_choice !== 'none';
      const tools = offers ? this.tokens.protectAll(body.tools) : null;
      const effort = body.reasoning_effort ? { reasoning_effort: body.reasoning_effort } : {};
      const chosen = this.tokens.protectAll({ ...effort, ...body.chat_template_kwargs });
      return this.#render({ ...(chosen as object), messages, tools });
    });
    const [opened = ''] = /<(?:think|thinking|thought|reasoning)>\s*$/i.exec(text) ?? [];
    return { tokens, text, opened };
  }

  #render(values: object): string {
    const { bosString, eosString } = this.model.tokens;
    const marks = { bos_token: bosString ?? '', eos_token: eosString ?? '' };
    try {
      return this.#template.render({ ...values, ...marks, add_generation_prompt: true });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw badRequest(`The template of the model refuses this conversation. Jinja Exception: ${reason}`);
    }
  }

  /** A message whose texts are marked. A template finds the thinking in an answer by its tags, so these stay. */
  #protected(message: object): object {
    return Object.fromEntries(
      Object.entries(message).map(([key, value]) => {
        if (key === 'role') return [key, value];
        const parts =
          key === 'content' && 'role' in message && message.role === 'assistant' && typeof value === 'string'
            ? value.split(/(<\/?think>)/)
            : undefined;
        if (!parts) return [key, this.tokens.protectAll(value)];
        return [key, parts.map((part, at) => (at % 2 === 0 ? this.tokens.protect(part) : part)).join('')];
      }),
    );
  }

  #messagesOf(given: readonly ChatMessage[]): readonly object[] {
    const names = new Map<string, string>();
    const messages = given.map((message) => {
      for (const { id, function: called } of message.tool_calls ?? []) if (id) names.set(id, called.name);
      const { role, tool_call_id: id, tool_calls: calls, ...rest } = message;
      return {
        ...withoutNulls(rest),
        role: role === 'developer' ? 'system' : role,
        content: textOf(message),
        ...(id ? { tool_call_id: id, name: message.name ?? names.get(id) ?? '' } : {}),
        ...(calls?.length ? { tool_calls: calls.map((call) => this.#callOf(call)) } : {}),
      };
    });
    const folded = this.abilities.system ? messages : withoutSystem(messages);
    return this.abilities.onlyParts ? folded.map(inParts) : folded;
  }

  #callOf({ id, function: { name, arguments: given } }: NonNullable<ChatMessage['tool_calls']>[number]) {
    const read = typeof given === 'string' ? (tryJson(given) ?? given) : given;
    const written = typeof given === 'string' ? given : JSON.stringify(given);
    const args = this.abilities.objectArguments ? read : written;
    return { id: id ?? '', type: 'function', function: { name, arguments: args } };
  }

  /** Renders small conversations to see what of them reaches the prompt. */
  #findAbilities(): Abilities {
    const needle = 'needle';
    const reaches = (messages: readonly object[], tools: unknown = null, wanted = needle) => {
      try {
        // A template may write in capitals.
        return this.#render({ messages, tools }).toLowerCase().includes(wanted);
      } catch {
        return false;
      }
    };
    const said = (role: string, content: string) => ({ role, content });
    const onlyParts = !reaches([said('user', needle)]) && reaches([inParts(said('user', needle))]);
    const message = (role: string, content: string) =>
      onlyParts ? inParts(said(role, content)) : said(role, content);
    const user = message('user', 'hello');
    const called = (given: unknown) => {
      const call = { id: 'call00000', type: 'function', function: { name: 'call', arguments: given } };
      return { ...message('assistant', ''), tool_calls: [call] };
    };
    const tool = { name: needle, description: '', parameters: { type: 'object', properties: {} } };
    const objectArguments = reaches([user, called({ [needle]: 1 })], null, `"${needle}"`);
    return {
      tools: reaches([user], [{ type: 'function', function: tool }]),
      calls: objectArguments || reaches([user, called(JSON.stringify({ [needle]: 1 }))]),
      system: reaches([message('system', needle), user]),
      objectArguments,
      onlyParts,
    };
  }
}

function tryTemplate(Template: NativeLibrary['Template'], source: unknown) {
  if (typeof source !== 'string' || source.trim() === '') return undefined;
  try {
    return { source, template: new Template(source) };
  } catch {
    // Some templates use more of the language than the library knows. The server's `/props` says what is used.
    return undefined;
  }
}

function inParts<T extends { readonly content: string }>(message: T) {
  return { ...message, content: [{ type: 'text', text: message.content }] };
}

/** A template without system messages gets them at the beginning of what the user says next. */
function withoutSystem<T extends { readonly role: string; readonly content: string }>(
  messages: readonly T[],
): readonly T[] {
  let before = '';
  const others: T[] = [];
  for (const message of messages) {
    if (message.role === 'system') before += `${message.content}\n`;
    else {
      const isNext = message.role === 'user' && before !== '';
      others.push(isNext ? { ...message, content: `${before}\n${message.content}` } : message);
      if (isNext) before = '';
    }
  }
  return others;
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string' || !content) return content ?? '';
  if (content.some(({ type }) => type !== 'text'))
    throw new ApiError(
      500,
      'server_error',
      'image input is not supported - hint: this engine reads text only',
    );
  return content.map(({ text }) => text ?? '').join('\n');
}

function withoutNulls(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}
