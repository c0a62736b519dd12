import { badRequest } from './failure.ts';
import { checkType, isRecord, listOf, textOf } from './fields.ts';
import type { PromptMessage, PromptTool } from './speech.ts';
import { countTokens } from './tokens.ts';

/**
 * @throws {ApiFailure} 400 with Go's texts for content parts, arguments as a string, and an image that is not base64.
 */
export function readMessages(value: unknown): readonly PromptMessage[] {
  return listOf(value).map((message) => {
    if (!isRecord(message))
      throw badRequest('json: cannot unmarshal into Go struct field ChatRequest.messages');
    const { role, content, images, tool_calls: calls, tool_name: toolName, thinking } = message;
    for (const [name, text] of Object.entries({ role, content, thinking }))
      if (text !== undefined && text !== null) checkType(text, 'string', `ChatRequest.messages.${name}`);
    for (const call of listOf(calls)) checkArguments(call);
    for (const image of listOf(images)) checkBase64(textOf(image));
    return {
      role: textOf(role).toLowerCase(),
      content: textOf(content),
      toolName: textOf(toolName),
      images: listOf(images).length,
    };
  });
}

export function readTools(value: unknown): readonly PromptTool[] {
  return listOf(value).flatMap((tool) => {
    const definition = isRecord(tool) ? tool['function'] : undefined;
    if (!isRecord(definition)) return [];
    const { name, description, parameters } = definition;
    return [
      {
        name: textOf(name),
        description: textOf(description),
        parameters: isRecord(parameters) ? parameters : {},
      },
    ];
  });
}

/** An estimate of the prompt's tokens: four more for the frame of each message, and ten for each image. */
export function promptTokens(messages: readonly PromptMessage[], tools: readonly PromptTool[]): number {
  const texts = messages.map(({ content, images }) => countTokens(content) + 4 + images * 10);
  const offered = tools.map((tool) => countTokens(JSON.stringify(tool)));
  return [...texts, ...offered].reduce((sum, count) => sum + count, 0);
}

function checkArguments(call: unknown): void {
  const called = isRecord(call) ? call['function'] : undefined;
  const given = isRecord(called) ? called['arguments'] : undefined;
  if (typeof given === 'string')
    throw badRequest("Value looks like object, but can't find closing '}' symbol");
}

function checkBase64(text: string): void {
  const at = text.search(/[^A-Za-z0-9+/=\r\n]/);
  if (at !== -1) throw badRequest(`illegal base64 data at input byte ${at}`);
}
