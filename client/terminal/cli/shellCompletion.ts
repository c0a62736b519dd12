import { showLine } from '../../../protocol/base/text.ts';
import { completePath } from '../conversation/slashCompletion.ts';
import {
  type CommandContext,
  findCommand,
  flagsOf,
  listedCommands,
  type TerminalCommands,
} from './command.ts';
import { usageError } from './failure.ts';
import { type FlagName, flagOf, flagOfWord, optionNames } from './flags.ts';

/** The shells that have a script. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

/** @throws {TerminalError} of the kind `usage` for a shell without a script. */
export async function printCompletion({ terminal, commandLine }: CommandContext): Promise<number> {
  const [word = ''] = commandLine.words;
  const shell = shells.find((name) => name === word);
  if (shell === undefined)
    throw usageError(`There is no completion for "${word}", only for ${shells.join(', ')}.`);
  await terminal.stdout.write(completionScripts[shell]);
  return 0;
}

/**
 * What each shell reads in order to ask `runner __complete` for candidates. The last word that a shell passes is the
 * one at the cursor.
 */
const completionScripts: Readonly<Record<(typeof shells)[number], string>> = {
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
  # More is typed behind a folder, and behind the name of an option.
  [[ \${COMPREPLY[0]} == *[/=] ]] && compopt -o nospace 2> /dev/null
}
complete -F _runner_complete runner
`,
  zsh: `#compdef runner
# Completion of runner for zsh. In ~/.zshrc, behind compinit: source <(runner completion zsh)
_runner() {
  local -a before candidates shown open
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
    # More is typed behind a folder, and behind the name of an option.
    if [[ "$line" == *[/=] ]]; then
      open+=("$line")
      continue
    fi
    # What it means stands behind a tab.
    candidates+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  compadd -S '' -- "\${open[@]}"
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
  powershell: `# Completion of runner for PowerShell. In $PROFILE: runner completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName runner -ScriptBlock {
    param($word, $line, $cursor)
    $before = @($line.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
    # An empty word would be left out, so it is two quotation marks, which the program takes for one.
    $current = if ("$word" -eq '') { '""' } else { "$word" }
    runner __complete '--' @before $current 2> $null | ForEach-Object {
        $candidate, $meaning = $_ -split '\t', 2
        if (-not $meaning) { $meaning = $candidate }
        [System.Management.Automation.CompletionResult]::new($candidate, $candidate, 'ParameterValue', $meaning)
    }
}
`,
};

/**
 * Prints the candidates for the last of the words, one a line: the word, a tab, and what it means. They are known
 * without a daemon: nobody who presses Tab waits for one.
 */
export async function printCandidates(context: CommandContext, commands: TerminalCommands): Promise<number> {
  const { stdout, cwd } = context.terminal;
  const { words } = context.commandLine;
  const [last = ''] = words.slice(-1);
  const current = last === '""' ? '' : last;
  const before = words.slice(0, -1);
  // The value may stand in the same word as its flag.
  const [, flag = '', typed = current] = /^(--[^=]+=)(.*)$/s.exec(current) ?? [];
  const offered = flag === '' ? offersFor(commands, before, typed) : valuesOf(before, flag, typed);
  // An error would disturb what the user types.
  const candidates = offered === '@files' ? await filesBehindAt(cwd, typed).catch(() => []) : offered;
  for (const [candidate, meaning] of candidates)
    if (candidate.startsWith(typed))
      await stdout.writeLine(showLine(flag + candidate) + (meaning === '' ? '' : `\t${showLine(meaning)}`));
  return 0;
}

/** A word, and what it means or `''`. */
type Candidate = readonly [word: string, meaning: string];

/** What can follow the words before. */
function offersFor(
  commands: TerminalCommands,
  before: readonly string[],
  current: string,
): '@files' | readonly Candidate[] {
  if (before.includes('--')) return [];
  const [last = ''] = before.slice(-1);
  if (valueFlagOf(last) !== undefined) return valuesOf(before, last, current);
  const [word, ...words] = positionalsOf(before);
  const command = findCommand(commands, word ?? 'chat')?.command;
  if (current.startsWith('-'))
    return command ? [...flagsOf(command)].map(([name, summary]) => [`--${name}`, summary]) : [];
  if (word === undefined) return listedCommands(commands).map(([name, { summary }]) => [name, summary]);
  const offers = words.length === 0 ? (command?.words?.offers ?? []) : [];
  return offers.map((offer) => [offer, '']);
}

/** What the value of a flag can be. */
function valuesOf(before: readonly string[], word: string, typed: string): '@files' | readonly Candidate[] {
  const flag = before.includes('--') ? undefined : flagOfWord(word);
  const offers = flag === undefined ? [] : (flagOf(flag).offers ?? []);
  if (offers === '@files') return offers;
  // A shell would put a space behind a name that is there already, as if its value were, too.
  if (offers === 'options')
    return optionNames.filter((name) => typed !== `${name}=`).map((name) => [`${name}=`, '']);
  // Files are left to the shell.
  return offers === 'files' ? [] : offers.map((offer) => [offer, '']);
}

/** The flag that a word is, if its value is the next word. */
function valueFlagOf(word: string): FlagName | undefined {
  const flag = word.includes('=') ? undefined : flagOfWord(word);
  if (flag === undefined) return undefined;
  const { value, bare } = flagOf(flag);
  return value === undefined || bare !== undefined ? undefined : flag;
}

function positionalsOf(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) =>
      word !== '' && !word.startsWith('-') && valueFlagOf(words[index - 1] ?? '') === undefined,
  );
}

/** A file behind an `@`, which a shell does not complete. */
async function filesBehindAt(cwd: string, typed: string): Promise<readonly Candidate[]> {
  if (!typed.startsWith('@')) return [];
  const { candidates } = await completePath(typed.slice(1), cwd, (path) => path);
  return candidates.filter((path) => isPlain(path.replace(/^\//, ''))).map((path) => [`@${path}`, '']);
}

/** Whether a shell reads the name as one word, because it is inserted into a command line as it is. */
function isPlain(name: string): boolean {
  return /^[\w.][\w./:@-]*$/.test(name);
}
