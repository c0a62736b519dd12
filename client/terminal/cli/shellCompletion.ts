import type { CommandContext } from './command.ts';
import { TerminalError } from './failure.ts';

/** The shells that have a script. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

/** @throws {TerminalError} of the kind `usage` for a shell without a script. */
export async function printCompletion({ terminal, commandLine }: CommandContext): Promise<number> {
  const [word = ''] = commandLine.words;
  const shell = shells.find((name) => name === word);
  if (shell === undefined)
    throw new TerminalError('usage', `There is no completion for "${word}", only for ${shells.join(', ')}.`);
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
