import { nearestNames } from '../../protocol/base/editDistance.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { count, messageOf, showLine } from '../../protocol/base/text.ts';
import type {
  AllowPromptsParams,
  CompletePromptParams,
  FilledPrompt,
  GetPromptParams,
  GetPromptResult,
  ListPromptsParams,
  ListPromptsResult,
  Prompt,
  PromptArgument,
  PromptFolder,
  WorkspaceParams,
} from '../../protocol/messages/prompts.ts';
import { InvalidParamsError } from '../base/errors.ts';
import { serverWord } from '../tools/serverLists.ts';
import type { AskableServer } from '../tools/toolServer.ts';
import { filledLength, fillPlaceholders, nameOf, readTypedArguments } from './promptFile.ts';
import {
  createFolderAnswers,
  type FolderAnswers,
  findWorkspaceFolder,
  listPromptFolder,
  type PromptFileEntry,
  readPromptFolder,
  rememberAnswers,
  type WorkspaceFolder,
} from './promptFolders.ts';
import { createServerPrompts, type ServerPrompt, type ServerPromptList } from './serverPrompts.ts';

export interface PromptsOptions {
  /** The user's own folder of prompts. */
  readonly userFolder: string;
  /** Where the answers about the folders of workspaces are kept. If it is absent, they last as long as the daemon. */
  readonly answersFolder?: string;
  readonly isTrusted: () => boolean;
}

/** Where a request comes from. */
export interface PromptPlace {
  /** The folder of the workspace. */
  readonly root: string | undefined;
  /** @throws {InvalidParamsError} if a name is not that of a tool server. */
  readonly requireTools: (names: readonly string[]) => Promise<void>;
  /** The tool servers, whose prompts count too. */
  readonly servers: () => Promise<readonly AskableServer[]>;
  /** Do not start servers for a list. */
  readonly isLazy?: boolean;
  readonly signal: AbortSignal;
}

/** A prompt, and how its text is filled. */
interface PromptEntry {
  readonly prompt: Prompt;
  /** Absent if the prompt cannot be used. */
  readonly text?: string;
}

/** In UTF-16 units: values may stand in many places of a text. */
const maxFilled = 4_000_000;

/**
 * The prompts that people keep as files, and those of tool servers. Files are read and servers asked at each request,
 * so the prompts are always as they are.
 */
export class Prompts {
  readonly #options: PromptsOptions;
  readonly #answers: FolderAnswers;
  readonly #ofServers = createServerPrompts();

  constructor(options: PromptsOptions) {
    const { answersFolder } = options;
    this.#options = options;
    this.#answers = answersFolder === undefined ? rememberAnswers() : createFolderAnswers(answersFolder);
  }

  async list(
    { commands = [], wait = false, ...params }: ListPromptsParams,
    place: PromptPlace,
  ): Promise<ListPromptsResult> {
    const own = await listPromptFolder(this.#options.userFolder);
    const folder = await this.#findFolder(params, place);
    const patience = place.isLazy ? 'running' : wait ? 'long' : 'short';
    const offered = await this.#ofServers.list(await place.servers(), patience, place.signal);
    const known = [...(await ofUser(own)), ...(await ofWorkspace(folder)), ...offered.prompts];
    const problems = [own.problem, folder?.listing.problem, ...offered.problems];
    return withoutUndefined<ListPromptsResult>({
      prompts: withHidden(
        known.map(({ prompt }) => prompt),
        new Set(commands),
      ),
      folder: folder && toFolder(folder),
      problems: problems.flatMap((problem) => problem ?? []),
    });
  }

  async get(
    { name, text = '', values = {}, ...params }: GetPromptParams,
    place: PromptPlace,
  ): Promise<GetPromptResult> {
    const folder = await this.#findFolder(params, place);
    const own = await listPromptFolder(this.#options.userFolder);
    const known = [...(await ofUser(own)), ...(await ofWorkspace(folder))];
    const found = known.find(({ prompt }) => prompt.name === name);
    if (!found && name.includes(':')) {
      const { prompts, problems } = await this.#listOfServers(name, place);
      const offered = prompts.find(({ prompt }) => prompt.name === name);
      if (offered) return this.#getOfServer(offered, { text, values }, place);
      const [problem] = problems;
      return problem === undefined ? noneOf(name, [...known, ...prompts]) : unusable(problem);
    }
    if (!found) return folder && mayHave(folder, name) ? notAllowed(folder, name) : noneOf(name, known);
    const { prompt } = found;
    if (found.text === undefined) return { kind: 'unusable', message: whyUnusable(prompt) };
    const filled = readValues(prompt.arguments, { text, values });
    if (filled.missing.length > 0) return missingIn(name, filled);
    return fill({ prompt, text: found.text }, { filled, place });
  }

  async complete(
    { name, argument, value, values = {} }: CompletePromptParams,
    place: PromptPlace,
  ): Promise<{ readonly values: readonly string[] }> {
    const { prompts } = await this.#listOfServers(name, place);
    const found = prompts.find(({ prompt }) => prompt.name === name);
    if (!found) return { values: [] };
    return { values: await this.#ofServers.complete(found, { argument, value, values }, place.signal) };
  }

  async allow(
    { allowed, ...params }: AllowPromptsParams,
    place: PromptPlace,
  ): Promise<{ readonly folder?: PromptFolder }> {
    const folder = await this.#findFolder(params, place);
    if (!folder) return {};
    if (folder.state === 'untrusted') return { folder: toFolder(folder) };
    await this.#answers.write(folder.path, allowed);
    return { folder: { ...toFolder(folder), state: allowed ? 'allowed' : 'refused' } };
  }

  #findFolder({ cwd }: WorkspaceParams, { root }: PromptPlace): Promise<WorkspaceFolder | undefined> {
    const isTrusted = this.#options.isTrusted();
    return findWorkspaceFolder(cwd ?? root, { answers: this.#answers, isTrusted });
  }

  /** Those of the servers that may have a prompt of this name. */
  async #listOfServers(name: string, place: PromptPlace): Promise<ServerPromptList> {
    const [word] = name.split(':', 1);
    const servers = name.includes(':') ? await place.servers() : [];
    const named = servers.filter((server) => serverWord(server.name) === word);
    return this.#ofServers.list(named, 'long', place.signal);
  }

  async #getOfServer(
    offered: ServerPrompt,
    typed: Parameters<typeof readValues>[1],
    { signal }: PromptPlace,
  ): Promise<GetPromptResult> {
    const { name, arguments: given } = offered.prompt;
    const filled = readValues(given, typed);
    if (filled.missing.length > 0) return missingIn(name, filled);
    const values = Object.fromEntries([...filled.values].filter(([, value]) => value !== ''));
    try {
      const { text, images } = await this.#ofServers.get(offered, values, signal);
      const sent = [text, filled.rest].filter((part) => part !== '').join('\n\n');
      return { kind: 'prompt', name, text: sent, ...(images.length === 0 ? {} : { images }) };
    } catch (error) {
      signal.throwIfAborted();
      return unusable(messageOf(error));
    }
  }
}

function unusable(message: string): GetPromptResult {
  return { kind: 'unusable', message: showLine(message) };
}

async function ofUser(listing: Parameters<typeof readPromptFolder>[0]): Promise<readonly PromptEntry[]> {
  return (await readPromptFolder(listing)).map((found) => toKnown(found, 'user'));
}

async function ofWorkspace(folder: WorkspaceFolder | undefined): Promise<readonly PromptEntry[]> {
  if (folder?.state !== 'allowed') return [];
  return (await readPromptFolder(folder.listing)).map((found) => toKnown(found, 'workspace'));
}

function toKnown(found: PromptFileEntry, from: 'user' | 'workspace'): PromptEntry {
  const { path } = found;
  if (!('file' in found)) {
    const { name, problem, line } = found;
    return {
      prompt: withoutUndefined<Prompt>({ name, description: '', from, path, arguments: [], problem, line }),
    };
  }
  const { name, description, arguments: given, model, tools, text } = found.file;
  // A workspace chooses neither who reads what the user types, nor what may be called.
  const own = from === 'user' ? { model, tools } : {};
  const prompt = { name, description: showLine(description), from, path, arguments: given, ...own };
  return { prompt: withoutUndefined<Prompt>(prompt), text };
}

/** Sorted by name; the first of a name is the one that counts, unless the client has a command of that name. */
function withHidden(prompts: readonly Prompt[], commands: ReadonlySet<string>): readonly Prompt[] {
  const names = new Set<string>();
  const marked = prompts.map((prompt): Prompt => {
    const { name } = prompt;
    const hiddenBy = commands.has(name) ? 'command' : names.has(name) ? 'prompt' : undefined;
    names.add(name);
    return hiddenBy ? { ...prompt, hiddenBy } : prompt;
  });
  return marked.toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
}

function toFolder({ path, state, files }: WorkspaceFolder): PromptFolder {
  return { path, state, files };
}

/** Only the names of the files are known of a folder that does not count. */
function mayHave({ state, listing }: WorkspaceFolder, name: string): boolean {
  return state !== 'allowed' && listing.files.some((file) => nameOf(file) === name);
}

function notAllowed(folder: WorkspaceFolder, name: string): GetPromptResult {
  const { path, state, files } = folder;
  const message = `/${name} is a prompt of this workspace, in ${showLine(path)}.`;
  if (state === 'untrusted')
    return { kind: 'unusable', message: `${message} It counts only once you trust the workspace.` };
  if (state === 'refused')
    return {
      kind: 'unusable',
      message: `${message} You refused the prompts of that folder; "runner prompts allow", typed in the workspace, allows them.`,
    };
  return {
    kind: 'unasked',
    folder: toFolder(folder),
    message: `${message} You have not allowed ${files === 1 ? 'the prompt' : `the ${count(files, 'prompt')}`} of that folder yet; "runner prompts allow", typed in the workspace, does.`,
  };
}

function noneOf(
  name: string,
  known: readonly (PromptEntry | Pick<ServerPrompt, 'prompt'>)[],
): GetPromptResult {
  const usable = known
    .map(({ prompt }) => prompt)
    .filter(({ problem }) => problem === undefined)
    .map((prompt) => prompt.name);
  return { kind: 'none', near: nearestNames(name, [...new Set(usable)]) };
}

function whyUnusable({ name, path = '', line, problem = '' }: Prompt): string {
  const where = line === undefined ? showLine(path) : `${showLine(path)}, line ${line}`;
  return `The prompt /${name} cannot be used. ${problem} (${where})`;
}

function missingIn(name: string, { missing, values }: FilledValues): GetPromptResult {
  const names = missing.map((argument) => `"${argument.name}"`);
  const example = missing.map((argument) => `${argument.name}=…`).join(' ');
  const needs = names.length === 1 ? `needs a value for ${names[0]}` : `needs values for ${names.join(', ')}`;
  return {
    kind: 'missing',
    missing,
    values: Object.fromEntries(values),
    message: `The prompt /${name} ${needs}. Type /${name} ${example}`,
  };
}

async function fill(
  { prompt, text }: Required<PromptEntry>,
  { filled: { values, rest }, place }: { readonly filled: FilledValues; readonly place: PromptPlace },
): Promise<GetPromptResult> {
  const { name, model, tools } = prompt;
  if (filledLength(text, values) + rest.length > maxFilled)
    return { kind: 'unusable', message: `The prompt /${name} becomes too long with these arguments.` };
  try {
    if (tools) await place.requireTools(tools);
  } catch (error) {
    if (!(error instanceof InvalidParamsError)) throw error;
    const problem = `Its "tools" cannot be used: ${showLine(error.problem)}.`;
    return { kind: 'unusable', message: whyUnusable({ ...prompt, problem }) };
  }
  const whole = fillPlaceholders(text, values);
  const sent = rest === '' ? whole : `${whole}\n\n${rest}`;
  return { kind: 'prompt', ...withoutUndefined<FilledPrompt>({ name, text: sent, model, tools }) };
}

export interface FilledValues {
  /** Every argument has one; an optional one that nobody named is empty. */
  readonly values: ReadonlyMap<string, string>;
  /** Required, and empty. */
  readonly missing: readonly PromptArgument[];
  /** What was typed behind the name of a prompt that has no arguments. */
  readonly rest: string;
}

/** The values of a prompt's arguments: those that are named come before what was typed. */
export function readValues(
  given: readonly PromptArgument[],
  { text, values }: { readonly text: string; readonly values: Readonly<Record<string, string>> },
): FilledValues {
  const named = new Map(Object.entries(values));
  const open = given.map(({ name }) => name).filter((name) => !named.has(name));
  const typed = readTypedArguments(text, open);
  const filled = new Map(given.map(({ name }) => [name, named.get(name) ?? typed.get(name) ?? '']));
  return {
    values: filled,
    missing: given.filter(({ name, required }) => required && filled.get(name)?.trim() === ''),
    rest: open.length === 0 ? text.trim() : '',
  };
}
