import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Wanted } from './familyForms.ts';

/** What a reply says: text, thinking and calls, in order. */
export type Part = string | { readonly think: string } | Wanted;

export interface FormatCase {
  readonly family: string;
  /** What the case is about. */
  readonly about: string;
  readonly reply: string;
  /** Absent if the reply is all text. */
  readonly want?: readonly Part[];
  /** The model's name, where that matters. */
  readonly model?: string;
}

const long = 'word '.repeat(1200);

/** Replies as models write them, whole and broken in the ways that were met, one a line, and those that are long. */
export const formatCases: readonly FormatCase[] = [
  ...readFileSync(join('test', 'fixtures', 'formats.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as FormatCase),
  {
    family: 'qwen3-coder',
    about: 'a parameter that never ends, and much prose',
    reply: `<function=get_weather>\n<parameter=city>\nKöln\n</function>\n${long}`,
  },
  {
    family: 'any',
    about: "an object whose first key could be a call's",
    reply: `{"name": "Ann", "age": 3, "story": "${long}"}`,
  },
  {
    family: 'any',
    about: 'an object with the name of a tool',
    reply: `{"name": "get_weather", "age": 3, "story": "${long}"}`,
  },
  {
    family: 'hermes',
    about: 'a huge argument',
    reply: `<tool_call>{"name": "get_weather", "arguments": {"city": "${long}"}}</tool_call>`,
    want: [{ name: 'get_weather', with: { city: long } }],
  },
];
