import type { Static, TObject } from 'typebox';
import { Value } from 'typebox/value';
import { ToolError } from './tool.ts';

/** Throws ToolError with a sentence for each of the first wrong arguments. */
export function parseArguments<Input extends TObject>(input: Input, args: unknown): Static<Input> {
  const given = args ?? {};
  if (Value.Check(input, given)) return given;
  const known = Object.keys(input.properties);
  const sentences = Value.Errors(input, given).flatMap((error) => sentenceOf(error, known));
  throw new ToolError([...new Set(sentences)].slice(0, most).join(' ') || 'The arguments are not valid.');
}

/** The most sentences in one error. */
const most = 5;

type ArgumentError = ReturnType<typeof Value.Errors>[number];

function sentenceOf(error: ArgumentError, known: readonly string[]): string[] {
  const name = `"${error.instancePath.slice(1, 50)}"`;
  switch (error.keyword) {
    case 'additionalProperties':
      return error.params.additionalProperties.map(
        (one) => `There is no argument "${one.slice(0, 50)}". ${knownSentence(known)}`,
      );
    case 'required':
      return error.params.requiredProperties.map((one) => `The argument "${one}" is missing.`);
    case 'type':
      if (error.instancePath === '') return ['The arguments must be an object.'];
      return [`${name} must be ${typeNames[String(error.params.type)] ?? error.message}.`];
    case 'minLength':
      return [`${name} must not be empty.`];
    case 'maxLength':
      return [`${name} must have at most ${error.params.limit} characters.`];
    case 'minimum':
      return [`${name} must be at least ${error.params.limit}.`];
    case 'maximum':
      return [`${name} must be at most ${error.params.limit}.`];
    default:
      // `additionalProperties` already names an unknown argument.
      return [];
  }
}

function knownSentence(known: readonly string[]): string {
  return known.length === 0 ? 'It takes none.' : `There is ${known.join(', ')}.`;
}

const typeNames: Readonly<Record<string, string>> = { string: 'a text', integer: 'a whole number' };
