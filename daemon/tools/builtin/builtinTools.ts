import { basename } from 'node:path';
import * as z from 'zod/mini';
import { fingerprintOf, type McpTool } from '../toolList.ts';

const lineNumber = z.optional(z.int().check(z.gte(1)));

export const readFileSchema = z.object({ path: z.string(), from: lineNumber, to: lineNumber });

export const editFileSchema = z.object({
  path: z.string(),
  edits: z.array(z.object({ old: z.string(), new: z.string() })).check(z.minLength(1), z.maxLength(100)),
});

export type ReadFile = z.output<typeof readFileSchema>;
export type EditFile = z.output<typeof editFileSchema>;

/** The tools as a server lists them. A client that cannot show a difference is not offered the second. */
export function builtinTools(folders: readonly string[], canEdit: boolean): readonly McpTool[] {
  const where = placesOf(folders);
  return [readFile(where), ...(canEdit ? [editFile(where)] : [])].map((tool) => ({
    ...tool,
    fingerprint: fingerprintOf([tool.name, tool.title, tool.description, tool.inputSchema, tool.annotations]),
  }));
}

function placesOf(folders: readonly string[]): string {
  const [first = ''] = folders;
  return folders.length === 1
    ? `Paths are relative to the folder ${basename(first)} of the project.`
    : `Paths are relative to ${first}; a file of ${folders.slice(1).join(' or ')} is named by its whole path.`;
}

type Described = Omit<McpTool, 'fingerprint'>;

const path = { type: 'string', description: 'The path of the file, such as src/main.ts' };

function readFile(where: string): Described {
  return {
    name: 'read_file',
    title: 'Read a file',
    description: `Reads a text file of the project. ${where} At most 2,000 lines are read at once; a note in brackets says what is left out.`,
    inputSchema: {
      type: 'object',
      properties: {
        path,
        from: { type: 'integer', minimum: 1, description: 'The first line to read, from 1' },
        to: { type: 'integer', minimum: 1, description: 'The last line to read' },
      },
      required: ['path'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function editFile(where: string): Described {
  return {
    name: 'edit_file',
    title: 'Edit a file',
    description: `Changes a text file of the project, or makes a new one. The user sees the difference and decides. ${where} Each edit replaces the text "old", which must occur exactly once in the file, by "new". Read the file first and copy "old" as it is, with its indentation; add the lines around it until it occurs once. Put all changes of a file into one call. To make a new file, give one edit with an empty "old".`,
    inputSchema: {
      type: 'object',
      properties: {
        path,
        edits: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: {
            type: 'object',
            properties: {
              old: { type: 'string', description: 'The text to replace, which occurs exactly once' },
              new: { type: 'string', description: 'The text in its place' },
            },
            required: ['old', 'new'],
          },
        },
      },
      required: ['path', 'edits'],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    isAskedEachTime: true,
  };
}
