import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { isRecord } from '../../../protocol/base/json.ts';
import { canChat, listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import { listSessionsRequest } from '../../../protocol/messages/sessions.ts';
import { listSettingsRequest } from '../../../protocol/messages/settings.ts';
import { describeSession } from '../conversation/keptConversation.ts';
import { docsServer } from '../conversation/toolChoice.ts';
import { withDaemon } from '../daemon/connection.ts';
import { describeCapabilities } from '../screen/modelDescription.ts';
import {
  type Command,
  type CommandContext,
  type Commands,
  findCommand,
  flagsOf,
  type KnownNames,
  listedCommands,
  type Offered,
} from './command.ts';
import { parseCommandLine } from './commandLine.ts';
import { TerminalError } from './failure.ts';
import { type FlagName, flagOf, flagOfWord } from './flags.ts';

/** The shells that have a script. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** Nobody who presses Tab waits for a slow runner. In ms. */
const timeouts = { connect: 500, list: 1_500 };

/** @throws {TerminalError} of the kind `usage` for a shell without a script. */
export async function printCompletion({ terminal, commandLine }: CommandContext): Promise<number> {
  const [word = ''] = commandLine.words;
  const shell = shells.find((name) => name === word);
  if (shell === undefined)
    throw new TerminalError('usage', `There is no completion for "${word}", only for ${shells.join(', ')}.`);
  await terminal.stdout.write(completionScripts[shell]);
  return 0;
}

/** Prints the candidates for the last of the words, one a line: the word, a tab, and what it means. */
export async function printCandidates(context: CommandContext, commands: Commands): Promise<number> {
  const { terminal, commandLine } = context;
  const { words } = commandLine;
  const [current = ''] = words.slice(-1);
  const offered = offersFor(commands, words.slice(0, -1), current);
  const candidates = typeof offered === 'string' ? await namesOf[offered](context) : offered;
  for (const [candidate, meaning] of candidates)
    if (candidate.startsWith(current))
      await terminal.stdout.writeLine(showLine(candidate) + (meaning === '' ? '' : `\t${showLine(meaning)}`));
  return 0;
}

/** A word, and what it means or `''`. */
type Candidate = readonly [word: string, meaning: string];

/** What can follow the words before. */
function offersFor(
  commands: Commands,
  before: readonly string[],
  current: string,
): KnownNames | readonly Candidate[] {
  if (before.includes('--')) return [];
  const flag = valueFlagOf(before.at(-1) ?? '');
  // Files are left to the shell.
  const value = flag === undefined ? undefined : (flagOf(flag).offers ?? []);
  if (value !== undefined) return value === 'files' ? [] : candidatesOf(value);
  const [word, ...words] = positionalsOf(before);
  const command = findCommand(commands, word ?? 'chat')?.command;
  if (current.startsWith('-'))
    return command ? [...flagsOf(command)].map(([name, summary]) => [`--${name}`, summary]) : [];
  if (word === undefined) return listedCommands(commands).map(([name, { summary }]) => [name, summary]);
  return candidatesOf(offersOf(command, words.length));
}

function candidatesOf(offered: Offered): KnownNames | readonly Candidate[] {
  return typeof offered === 'string' ? offered : offered.map((word) => [word, '']);
}

/** The flag that a word is, if its value is the next word. */
function valueFlagOf(word: string): FlagName | undefined {
  const flag = word.includes('=') ? undefined : flagOfWord(word);
  if (flag === undefined) return undefined;
  const { value, bare } = flagOf(flag);
  return value === undefined || bare !== undefined ? undefined : flag;
}

/** What a command offers for the word after `count` others. */
function offersOf(command: Command | undefined, count: number): Offered {
  const { max = 0, offers = [], further = offers } = command?.words ?? {};
  if (count >= max) return [];
  return count === 0 ? offers : further;
}

function positionalsOf(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) =>
      word !== '' && !word.startsWith('-') && valueFlagOf(words[index - 1] ?? '') === undefined,
  );
}

/** Nothing if there is no runner: an error would disturb what the user types. */
async function namesOfModels(
  context: CommandContext,
  isOffered: (model: Model) => boolean = () => true,
): Promise<readonly Candidate[]> {
  try {
    const commandLine = parseCommandLine(serverFlagOf(context.commandLine.words.slice(0, -1)));
    return await withDaemon({ ...context, commandLine }, { timeouts }, async (daemon) => {
      const { models } = await daemon.request(listModelsRequest, {});
      return models
        .filter((model) => isPlain(model.name) && isOffered(model))
        .map((model) => [model.name, describeBriefly(model)]);
    });
  } catch {
    return [];
  }
}

function describeBriefly(model: Model): string {
  const { size, remote } = model;
  const facts = [
    remote ? 'remote' : size === undefined ? '' : formatBytes(size),
    describeCapabilities(model),
  ];
  return facts.filter((fact) => fact !== '').join(', ');
}

/** The same for conversations, for which no runner is asked. */
async function idsOfSessions(context: CommandContext): Promise<readonly Candidate[]> {
  try {
    return await withDaemon({ ...context, commandLine: parseCommandLine([]) }, {}, async (daemon) => {
      const { sessions } = await daemon.request(listSessionsRequest, {});
      return sessions
        .filter(({ id }) => isPlain(id))
        .map((session) => [session.id, describeSession(session)]);
    });
  } catch {
    return [];
  }
}

/** The tool servers of the user's configuration, of which none is started. */
async function namesOfTools(context: CommandContext): Promise<readonly Candidate[]> {
  try {
    const own = await withDaemon(
      { ...context, commandLine: parseCommandLine([]) },
      {},
      async ({ toolServers }) => toolServers,
    );
    const docs = context.program.documents === undefined ? [] : [docsServer];
    return [...new Set([...docs, ...own])].filter(isPlain).map((name) => [name, '']);
  } catch {
    return [];
  }
}

/** The runners that the user's configuration names; none is asked. */
async function namesOfServers(context: CommandContext): Promise<readonly Candidate[]> {
  try {
    return await withDaemon({ ...context, commandLine: parseCommandLine([]) }, {}, async (daemon) => {
      const { settings } = await daemon.request(listSettingsRequest, {});
      const servers = settings.find(({ name }) => name === 'servers')?.value;
      return (Array.isArray(servers) ? servers.filter(isRecord) : [])
        .map(({ name, url }): Candidate => [String(name), String(url ?? '')])
        .filter(([name]) => isPlain(name));
    });
  } catch {
    return [];
  }
}

const namesOf: Readonly<Record<KnownNames, (context: CommandContext) => Promise<readonly Candidate[]>>> = {
  models: (context) => namesOfModels(context),
  chatModels: (context) => namesOfModels(context, canChat),
  sessions: idsOfSessions,
  tools: namesOfTools,
  servers: namesOfServers,
};

/** The flags among these words that name the runner. */
function serverFlagOf(words: readonly string[]): readonly string[] {
  const at = words.findLastIndex((word) => word === '--server' || word.startsWith('--server='));
  if (at < 0) return words.includes('--practice') ? ['--practice'] : [];
  return words[at] === '--server' ? words.slice(at, at + 2) : words.slice(at, at + 1);
}

/** Whether a shell reads the name as one word, because it is inserted into a command line as it is. */
function isPlain(name: string): boolean {
  return /^[\w.][\w./:@-]*$/.test(name);
}

/**
 * What each shell reads in order to ask `runner __complete` for candidates. The last word that a shell passes is the
 * one at the cursor.
 */
export const completionScripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `# Completion of runner for bash. In ~/.bashrc: source <(runner completion bash)
_runner_complete() {
  # COMP_WORDS is cut at each colon of a model's name, so the line itself is read.
  local line=\${COMP_LINE:0:COMP_POINT} IFS=$' \\t\\n'
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:blank:]] ]] && words+=("")
  local current=\${words[\${#words[@]}-1]} previous=
  (( \${#words[@]} > 1 )) && previous=\${words[\${#words[@]}-2]}
  COMPREPLY=()
  if [[ $previous == -f || $previous == --file || $previous == --image ]]; then
    compopt -o default 2> /dev/null
    return
  fi
  if [[ $previous == --format ]]; then
    compopt -o filenames 2> /dev/null
    local name
    while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -W json -- "$current")
    return
  fi
  # What is inserted takes the place of what stands behind the last break of the word.
  local kept= break
  for break in : =; do
    [[ $COMP_WORDBREAKS == *$break* && $current == *$break* ]] || continue
    local until=\${current%"$break"*}$break
    (( \${#until} > \${#kept} )) && kept=$until
  done
  local candidate
  while IFS= read -r candidate; do
    # What it means stands behind a tab.
    candidate=\${candidate%%$'\\t'*}
    COMPREPLY+=("\${candidate#"$kept"}")
  done < <(runner __complete -- "\${words[@]:1}" 2> /dev/null < /dev/null)
}
complete -F _runner_complete runner
`,
  zsh: `#compdef runner
# Completion of runner for zsh. In ~/.zshrc, behind compinit: source <(runner completion zsh)
_runner() {
  local -a before candidates shown
  local line
  before=("\${(@Q)words[2,CURRENT-1]}")
  if [[ "\${words[CURRENT-1]}" == (-f|--file|--image) ]]; then
    _files
    return
  fi
  if [[ "\${words[CURRENT-1]}" == --format ]]; then
    compadd -- json
    _files
    return
  fi
  for line in "\${(@f)$(runner __complete -- "\${before[@]}" "\${(Q)PREFIX}" 2> /dev/null < /dev/null)}"; do
    [[ -n "$line" ]] || continue
    # What it means stands behind a tab.
    candidates+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  compadd -l -d shown -- "\${candidates[@]}"
}
if [[ "\${funcstack[1]}" == _runner ]]; then
  _runner "$@"
else
  compdef _runner runner
fi
`,
  fish: `# Completion of runner for fish. Once: runner completion fish > ~/.config/fish/completions/runner.fish
function __runner_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    runner __complete -- $before "$current" 2> /dev/null < /dev/null
end
complete -c runner -f -a '(__runner_complete)'
complete -c runner -s f -l file -r -F
complete -c runner -l image -r -F
complete -c runner -l format -r -F -a json
`,
};
