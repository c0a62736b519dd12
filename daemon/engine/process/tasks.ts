import { messageOf } from '../../../protocol/base/text.ts';
import { type AnswerForm, chatForm, completionForm, type FormOptions, infillForm } from './answers.ts';
import type { LoadedModel } from './engineModel.ts';
import type { Token } from './library.ts';
import {
  ApiError,
  badRequest,
  bodies,
  type ChatBody,
  type GenerationOptions,
  type InfillBody,
  parseBody,
} from './requests.ts';

/** A prompt with how to answer it, and how to write the answer. */
export interface Task {
  readonly prompt: readonly Token[];
  readonly body: GenerationOptions;
  readonly form: AnswerForm;
  /** What the template has written of the answer already. */
  readonly opened?: string;
  /** Where an answer ends, beside what the request names. */
  readonly stops?: readonly string[];
  readonly grammarState?: object | undefined;
}

/** Reads the body of a request. @throws {ApiError} for what is wrong with it. */
export type ReadTask = (json: string, loaded: LoadedModel, alias: string) => Promise<Task>;

export const readChat: ReadTask = async (json, loaded, alias) => {
  const body = readConversation(json, loaded);
  const { tokens, opened } = loaded.prompts.prompt(body);
  const form = chatForm(formOptions(body, alias), mustCall(body).length > 0);
  const grammar = await grammarState(loaded, body);
  const task = { prompt: tokens, body, form, stops: loaded.prompts.stops, grammarState: grammar };
  // What a grammar holds begins with the answer itself.
  return grammar ? task : { ...task, opened };
};

/** A conversation, with what it leaves open. @throws {ApiError} for what is wrong with it. */
export function readConversation(json: string, { defaults }: Pick<LoadedModel, 'defaults'>): ChatBody {
  const { system, temperature, top_p, repeat_penalty, max_tokens } = defaults;
  const body = parseBody(bodies.chat, json);
  const { messages } = body;
  const isLed = messages.some(({ role }) => role === 'system' || role === 'developer');
  return {
    ...body,
    messages: isLed || system === undefined ? messages : [{ role: 'system', content: system }, ...messages],
    temperature: body.temperature ?? temperature,
    top_p: body.top_p ?? top_p,
    repeat_penalty: body.repeat_penalty ?? repeat_penalty,
    max_tokens: body.max_tokens ?? body.max_completion_tokens ?? body.n_predict ?? max_tokens,
  };
}

export const readCompletion: ReadTask = async (json, { model, tokens }, alias) => {
  const body = parseBody(bodies.completion, json);
  const parts = typeof body.prompt === 'string' ? [body.prompt] : body.prompt;
  if (parts.some((part) => typeof part === 'number' && !tokens.isToken(part)))
    throw badRequest('The prompt has a token that the model does not know.');
  const read = parts.flatMap((part) => (typeof part === 'string' ? model.tokenize(part, true) : [part]));
  const prompt = tokens.withBeginning(read);
  if (prompt.length === 0) throw badRequest('The prompt is empty.');
  return { prompt, body, form: completionForm(formOptions(body, alias)) };
};

export const readInfill: ReadTask = async (json, loaded, alias) => {
  const body = parseBody(bodies.infill, json);
  return { prompt: gapOf(loaded, body), body, form: infillForm(formOptions(body, alias)) };
};

function formOptions(body: GenerationOptions, model: string): FormOptions {
  return { model, includesUsage: body.stream_options?.include_usage === true };
}

/** The text before the gap, the text after it, and the tokens between which the model expects them. */
function gapOf({ model, tokens }: LoadedModel, body: InfillBody): Token[] {
  const { prefix, suffix, middle } = model.tokens.infill;
  if (prefix === null || suffix === null || middle === null)
    throw new ApiError(
      501,
      'not_supported_error',
      'Infill is not supported by this model: it lacks the tokens for it.',
    );
  const plain = (text: string) => model.tokenize(text, false);
  const extra = (body.input_extra ?? []).flatMap(({ text }) => plain(`${text}\n`));
  const before = plain(`${body.input_prefix}${body.prompt ?? ''}`);
  return tokens.withBeginning([...extra, prefix, ...before, suffix, ...plain(body.input_suffix), middle]);
}

/** What holds an answer to the format that was asked for; undefined if none was. */
async function grammarState(
  { library, llama, model }: LoadedModel,
  body: ChatBody,
): Promise<object | undefined> {
  const format = formatOf(body);
  if (format === undefined) return undefined;
  try {
    const text =
      format === 'json' ? jsonObject : endingAtOnce((await llama.createGrammarForJsonSchema(format)).grammar);
    const grammar = await llama.createGrammar({ grammar: text });
    return new library.LlamaGrammarEvaluationState({ model, grammar });
  } catch (error) {
    throw badRequest(`The schema cannot be used: ${messageOf(error)}`);
  }
}

/** The tools of which one must be called, if there must be a call. */
function mustCall({ tools, tool_choice: choice }: ChatBody): NonNullable<ChatBody['tools']> {
  if (!tools || !choice || choice === 'auto' || choice === 'none') return [];
  if (choice === 'required') return tools;
  const { name } = (choice['function'] ?? {}) as { name?: unknown };
  return tools.filter((tool) => tool.function.name === name);
}

function formatOf(body: ChatBody): object | 'json' | undefined {
  const called = mustCall(body);
  if (called.length > 0) return { oneOf: called.map(callSchema) };
  const { type, schema, json_schema: named } = body.response_format ?? {};
  if (type === 'json_schema' || (type === 'json_object' && schema)) {
    const wanted = named?.schema ?? schema;
    if (!wanted) throw badRequest('The parameter "response_format.json_schema" is missing.');
    return wanted;
  }
  return type === 'json_object' ? 'json' : undefined;
}

function callSchema({ function: { name, parameters } }: NonNullable<ChatBody['tools']>[number]): object {
  const properties = { name: { const: name }, arguments: parameters ?? { type: 'object' } };
  return { type: 'object', properties };
}

/** The library lets line feeds follow, by which its own chat knows the end; a model would write them to the limit. */
function endingAtOnce(grammar: string): string {
  return grammar.replace(/ "(?:\\n){4}" \[\\n\]\*/, '');
}

/** Any JSON object, in the notation of llama.cpp. Blanks are bounded: a small model may write nothing else. */
const jsonObject = String.raw`root ::= object
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws ( pair ( "," ws pair )* )? ws "}"
pair ::= string ws ":" ws value ws
array ::= "[" ws ( value ws ( "," ws value ws )* )? "]"
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F]{4} ) )* "\""
number ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,15} )? ( [eE] [-+]? [0-9]{1,3} )?
ws ::= | " " | "\n" [ \t]{0,16}
`;
