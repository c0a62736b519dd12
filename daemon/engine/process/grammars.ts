import { messageOf } from '../../../protocol/base/errorText.ts';
import type { LoadedModel } from './engineModel.ts';
import { badRequest, type ChatBody } from './requests.ts';

/** What holds an answer to the format that was asked for; undefined if none was. */
export async function grammarState(
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
export function mustCall({ tools, tool_choice: choice }: ChatBody): NonNullable<ChatBody['tools']> {
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
