import { basename } from 'node:path';
import { fingerprintOf, type ServerTool } from '../toolList.ts';

export interface ToolArgument {
  readonly type: 'string' | 'integer' | 'boolean' | 'array';
  readonly description?: string;
  /** Other names under which models write it, in lower case and without `_` and `-`. */
  readonly names?: readonly string[];
  /** It is taken, though the tool is not described with it. */
  readonly isHidden?: boolean;
}

interface BuiltinTool {
  readonly title: string;
  readonly act: 'read' | 'edit';
  /** Other names under which models call it, if nobody offers a tool of that name. */
  readonly names: readonly string[];
  readonly description: string;
  readonly arguments: Readonly<Record<string, ToolArgument>>;
  readonly required?: readonly string[];
}

/** The arguments of all tools, once a call was read as it is meant and checked against the schema of its tool. */
export type BuiltinArguments = Readonly<
  Partial<
    Record<'path' | 'pattern' | 'query' | 'old_string' | 'new_string' | 'content', string> &
      Record<'start_line' | 'end_line', number> &
      Record<'regex' | 'replace_all', boolean>
  >
>;

const pathNames = ['filepath', 'filename', 'file', 'targetfile'];
const folderNames = [...pathNames, 'folder', 'directory', 'dir'];
const path: ToolArgument = { type: 'string', names: pathNames };

/** The texts of an edit, which an old list of `edits` has too. */
export const editTexts: Readonly<Record<string, ToolArgument>> = {
  old_string: { type: 'string', names: ['old', 'oldtext', 'oldstr', 'search'] },
  new_string: { type: 'string', names: ['new', 'newtext', 'newstr', 'replace'] },
};

/** The tools for files, as they are described to a model. */
const tools: Readonly<Record<string, BuiltinTool>> = {
  list_files: {
    title: 'List files',
    act: 'read',
    names: ['ls', 'list_dir', 'list_directory', 'glob', 'find'],
    description: 'Lists the files of a folder with their sizes. What git ignores is left out.',
    arguments: {
      path: {
        type: 'string',
        description: 'The folder, relative to the project folder. Default: the project folder',
        names: folderNames,
      },
      pattern: {
        type: 'string',
        description: 'Only paths that match, such as **/*.test.ts',
        names: ['glob', 'filter'],
      },
    },
  },
  search_files: {
    title: 'Search files',
    act: 'read',
    names: ['grep', 'grep_search', 'search', 'rg'],
    description: 'Finds lines in the files of the project. Gives path:line: text.',
    arguments: {
      query: {
        type: 'string',
        description: 'The text to find, as it is, or with "regex" a regular expression',
        names: ['pattern', 'regexp', 'text', 'search', 'term'],
      },
      path: { type: 'string', description: 'Only in this file or folder', names: folderNames },
      regex: { type: 'boolean', names: ['isregex', 'isregexp', 'useregex'] },
    },
    required: ['query'],
  },
  read_file: {
    title: 'Read a file',
    act: 'read',
    names: ['read', 'view', 'cat', 'open'],
    description: 'Reads lines of a text file. A note in brackets says what is left out.',
    arguments: {
      path: { ...path, description: 'Relative to the project folder, such as src/main.ts' },
      start_line: { type: 'integer', names: ['from', 'start', 'offset', 'linestart'] },
      end_line: { type: 'integer', names: ['to', 'end', 'lineend'] },
      limit: { type: 'integer', isHidden: true },
    },
    required: ['path'],
  },
  edit_file: {
    title: 'Edit a file',
    act: 'edit',
    names: ['edit', 'replace', 'str_replace', 'apply_diff'],
    description:
      'Replaces a text in a file. Read the file first. old_string is copied from the file, with its indentation, and long enough to occur once.',
    arguments: {
      path,
      ...editTexts,
      replace_all: { type: 'boolean', description: 'Replace it wherever it occurs' },
      edits: { type: 'array', isHidden: true },
    },
    required: ['path', 'old_string', 'new_string'],
  },
  write_file: {
    title: 'Write a file',
    act: 'edit',
    names: ['write', 'create_file', 'write_to_file'],
    description:
      'Makes a new file, or replaces the whole text of a short one that you have read. Never leave parts out.',
    arguments: { path, content: { type: 'string', names: ['text', 'filetext', 'code', 'contents'] } },
    required: ['path', 'content'],
  },
};

/** One approval is for all of them: who may read every file may list and search them. */
export const readingTools: readonly string[] = ['list_files', 'search_files', 'read_file'];

/** How models call a tool and its arguments; undefined if there is no such tool. `run_check` is described elsewhere. */
export function builtinTool(name: string): Pick<BuiltinTool, 'names' | 'arguments'> | undefined {
  if (name === 'run_check') return checkTool;
  return Object.hasOwn(tools, name) ? tools[name] : undefined;
}

const checkTool = {
  names: [],
  arguments: {
    name: { type: 'string', names: ['check', 'checkname', 'command', 'cmd'] },
    path: { type: 'string', names: folderNames },
  },
} as const;

const reads = { readOnlyHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

/** The tools as a server lists them. A client that cannot show a difference is only offered those that read. */
export function builtinTools(folders: readonly string[], canEdit: boolean): readonly ServerTool[] {
  const listed = Object.entries(tools)
    .filter(([, { act }]) => canEdit || act === 'read')
    .map(([name, { title, act, description, required, ...tool }]) => ({
      name,
      title,
      description: name === 'read_file' ? description + placesOf(folders) : description,
      inputSchema: { type: 'object', properties: describedOf(tool.arguments), ...(required && { required }) },
      annotations: act === 'read' ? reads : writes,
      act,
    }));
  const wordsOf = ({ act: _, ...described }: (typeof listed)[number]) => Object.values(described);
  const reading = fingerprintOf(listed.filter(({ act }) => act === 'read').map(wordsOf));
  return listed.map((tool) => ({
    ...tool,
    fingerprint: tool.act === 'read' ? reading : fingerprintOf(wordsOf(tool)),
  }));
}

function describedOf(given: BuiltinTool['arguments']): object {
  const described = Object.entries(given).filter(([, { isHidden }]) => !isHidden);
  return Object.fromEntries(described.map(([key, { names: _, ...schema }]) => [key, schema]));
}

/** The text for the system says what paths are relative to. It names one folder. */
function placesOf([first = '', ...others]: readonly string[]): string {
  return others.length === 0
    ? ''
    : ` Paths are relative to ${first}; a file of ${others.join(' or ')} is named by its whole path.`;
}

/** What a model is told about its work with the tools that it is offered. `nameOf` is undefined for the others. */
export function builtinInstructions(
  [first = '']: readonly string[],
  nameOf: (tool: string) => string | undefined,
): string {
  const [read, edit, check] = ['read_file', 'edit_file', 'run_check'].map(nameOf);
  const finding = ['list_files', 'search_files'].map(nameOf).filter((name) => name !== undefined);
  const folder = JSON.stringify(basename(first));
  const lines = [
    `You work on the project in the folder ${folder} with tools. Paths are relative to that folder.`,
    finding.length > 0 &&
      `- Find before you guess: ${finding.join(', ')}${read === undefined ? '' : `, then ${read}`}.`,
    edit && '- Change only what was asked. Copy old_string from what you have read, without line numbers.',
    '- If a tool says why it failed, do something else; never repeat the same call.',
    (edit ?? nameOf('write_file')) &&
      (check === undefined
        ? '- After the last edit, answer in a few sentences: what changed.'
        : `- After the last edit, ${check}. Then answer in a few sentences: what changed, what the check said.`),
    '- Old results are removed from this conversation to save room. Read again what you need.',
  ];
  return lines.filter(Boolean).join('\n');
}
