import { basename } from 'node:path';
import * as z from 'zod/mini';
import { fingerprintOf, type McpTool } from '../toolList.ts';

const lineNumber = z.optional(z.int().check(z.gte(1)));
const textEdit = { old_string: z.string(), new_string: z.string() };

export const listFilesSchema = z.object({ path: z.optional(z.string()), pattern: z.optional(z.string()) });

export const searchFilesSchema = z.object({
  query: z.string(),
  path: z.optional(z.string()),
  regex: z.optional(z.boolean()),
});

export const readFileSchema = z.object({ path: z.string(), start_line: lineNumber, end_line: lineNumber });

export const editFileSchema = z.object({
  path: z.string(),
  ...textEdit,
  replace_all: z.optional(z.boolean()),
});

export const writeFileSchema = z.object({ path: z.string(), content: z.string() });

export type ListFiles = z.output<typeof listFilesSchema>;
export type SearchFiles = z.output<typeof searchFilesSchema>;
export type ReadFileArguments = z.output<typeof readFileSchema>;
export type EditFile = z.output<typeof editFileSchema>;
export type WriteFile = z.output<typeof writeFileSchema>;

/** The tools as a server lists them. A client that cannot show a difference is only offered those that read. */
export function builtinTools(folders: readonly string[], canEdit: boolean): readonly McpTool[] {
  const reading = [listFiles, searchFiles, readFile(placesOf(folders))];
  const readingFingerprint = fingerprintOf(reading.map(described));
  return [
    ...reading.map((tool): McpTool => ({ ...tool, act: 'read', fingerprint: readingFingerprint })),
    ...(canEdit ? [editFile, writeFile] : []).map(
      (tool): McpTool => ({ ...tool, act: 'edit', fingerprint: fingerprintOf(described(tool)) }),
    ),
  ];
}

type Described = Omit<McpTool, 'fingerprint'>;

function described({ name, title, description, inputSchema, annotations }: Described): readonly unknown[] {
  return [name, title, description, inputSchema, annotations];
}

/** The text for the system says what paths are relative to. It names one folder. */
function placesOf(folders: readonly string[]): string {
  const [first = '', ...others] = folders;
  return others.length === 0
    ? ''
    : ` Paths are relative to ${first}; a file of ${others.join(' or ')} is named by its whole path.`;
}

const reads = { readOnlyHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };
const text = { type: 'string' };

const listFiles: Described = {
  name: 'list_files',
  title: 'List files',
  description: 'Lists the files of a folder with their sizes. What git ignores is left out.',
  inputSchema: {
    type: 'object',
    properties: {
      path: {
        type: 'string',
        description: 'The folder, relative to the project folder. Default: the project folder',
      },
      pattern: { type: 'string', description: 'Only paths that match, such as **/*.test.ts' },
    },
  },
  annotations: reads,
};

const searchFiles: Described = {
  name: 'search_files',
  title: 'Search files',
  description: 'Finds lines in the files of the project. Gives path:line: text.',
  inputSchema: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        description: 'The text to find, as it is, or with "regex" a regular expression',
      },
      path: { type: 'string', description: 'Only in this file or folder' },
      regex: { type: 'boolean' },
    },
    required: ['query'],
  },
  annotations: reads,
};

const readFile = (places: string): Described => ({
  name: 'read_file',
  title: 'Read a file',
  description: `Reads lines of a text file. A note in brackets says what is left out.${places}`,
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the project folder, such as src/main.ts' },
      start_line: { type: 'integer' },
      end_line: { type: 'integer' },
    },
    required: ['path'],
  },
  annotations: reads,
});

const editFile: Described = {
  name: 'edit_file',
  title: 'Edit a file',
  description:
    'Replaces a text in a file. Read the file first. old_string is copied from the file, with its indentation, and long enough to occur once.',
  inputSchema: {
    type: 'object',
    properties: {
      path: text,
      old_string: text,
      new_string: text,
      replace_all: { type: 'boolean', description: 'Replace it wherever it occurs' },
    },
    required: ['path', 'old_string', 'new_string'],
  },
  annotations: writes,
};

const writeFile: Described = {
  name: 'write_file',
  title: 'Write a file',
  description:
    'Makes a new file, or replaces the whole text of a short one that you have read. Never leave parts out.',
  inputSchema: {
    type: 'object',
    properties: { path: text, content: text },
    required: ['path', 'content'],
  },
  annotations: writes,
};

/** What a model is told about its work with the tools that it is offered. `nameOf` is undefined for the others. */
export function builtinInstructions(
  folders: readonly string[],
  nameOf: (tool: string) => string | undefined,
): string {
  const [list, search, read, edit, write, check] = [
    'list_files',
    'search_files',
    'read_file',
    'edit_file',
    'write_file',
    'run_check',
  ].map(nameOf);
  const finding = [list, search].filter((name) => name !== undefined).join(', ');
  const folder = JSON.stringify(basename(folders[0] ?? ''));
  const lines = [
    `You work on the project in the folder ${folder} with tools. Paths are relative to that folder.`,
    finding && `- Find before you guess: ${finding}${read === undefined ? '' : `, then ${read}`}.`,
    edit !== undefined &&
      '- Change only what was asked. Copy old_string from what you have read, without line numbers.',
    '- If a tool says why it failed, do something else; never repeat the same call.',
    (edit ?? write) !== undefined &&
      (check === undefined
        ? '- After the last edit, answer in a few sentences: what changed.'
        : `- After the last edit, ${check}. Then answer in a few sentences: what changed, what the check said.`),
    '- Old results are removed from this conversation to save room. Read again what you need.',
  ];
  return lines.filter(Boolean).join('\n');
}
