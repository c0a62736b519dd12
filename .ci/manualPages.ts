import { readFileSync } from 'node:fs';
import { flagsOf, listedCommands, type TerminalCommand } from '../client/terminal/cli/command.ts';
import { commonFlags, type FlagName, flagOf, flagUsage } from '../client/terminal/cli/flags.ts';
import { commands } from '../client/terminal/commands/commands.ts';
import type { OptionSpecs } from '../docs-service/base/options.ts';
import { commands as documentCommands } from '../docs-service/cli/program.ts';

/** The manual page of `runner`, from the table of commands that also makes its help. */
export function runnerManual(): string {
  const listed = listedCommands(commands);
  const groups = [...new Set(listed.map(([, { group = '' }]) => group))];
  return page('runner', 'talk to the language models on your machine', [
    section('Synopsis', paragraph(synopsis('runner [COMMAND] [WORD…] [FLAG…]'))),
    section(
      'Description',
      paragraph(
        prose('Without a command, "runner" opens a conversation; "/help" lists what can be typed in it.'),
      ),
      paragraph(prose('"runner COMMAND --help" shows the flags of a command.')),
    ),
    section(
      'Commands',
      ...groups.flatMap((title) => [
        `.SS ${prose(title)}`,
        ...listed.filter(([, { group }]) => group === title).map(([, command]) => terminalCommand(command)),
      ]),
    ),
    section(
      'Flags of every command',
      ...commonFlags.map((name) => terminalFlag([name, flagOf(name).summary])),
    ),
    section(
      'Exit status',
      item('0', 'It is done.'),
      item('1', 'An error, which standard error explains.'),
      item('2', 'The arguments are wrong, or a question could not be asked.'),
      item('130', 'It was interrupted.'),
    ),
    section(
      'Environment',
      item('OLLAMA_HOST', 'the address of the runner, unless --server names one'),
      item('VISUAL, EDITOR', 'the editor for long prompts'),
      item('NO_COLOR', 'If it is set, the output has no colours.'),
    ),
    section(
      'Files',
      item('~/.config/runner/config.json', 'your settings; "runner config" shows where each comes from'),
      item('~/.config/runner/prompts/', 'the prompts that you keep as files'),
      item('~/.local/state/runner/', 'conversations, the history, and the models that were chosen last'),
    ),
    section('Examples', '.nf', ...listed.flatMap(([, { examples = [] }]) => examples).map(prose), '.fi'),
    section('See also', paragraph(synopsis('runner-docs(1)'))),
  ]);
}

/** The manual page of `runner-docs`. */
export function documentsManual(): string {
  return page('runner-docs', 'documents for programs, readers and agents', [
    section('Synopsis', paragraph(synopsis('runner-docs [COMMAND] [FLAG…]'))),
    section(
      'Description',
      paragraph(
        prose('Serves a folder of documents: a search, pages, PDF and EPUB, and tools for agents (MCP).'),
      ),
    ),
    section('Commands', ...Object.values(documentCommands).map(documentCommand)),
    section(
      'Exit status',
      item('0', 'It is done.'),
      item('1', 'An error, which standard error explains.'),
      item('2', 'The arguments are wrong.'),
    ),
    section(
      'Environment',
      paragraph(
        prose(
          'Each flag has a variable too, which counts if the flag is not given: --base-url is DOCS_BASE_URL. Spaces separate the values of a flag that may be given several times, and a flag without a value is 1 or 0.',
        ),
      ),
    ),
    section('See also', paragraph(synopsis('runner(1)'))),
  ]);
}

function terminalCommand(command: TerminalCommand): string {
  const { usage, summary, aliases = [] } = command;
  const same =
    aliases.length === 0 ? '' : `. The same: ${aliases.map((alias) => `runner ${alias}`).join(', ')}`;
  const own = [...flagsOf(command)].filter(([name]) => !commonFlags.includes(name));
  return withFlags(item(`runner ${usage}`, summary + same), own.map(terminalFlag));
}

function terminalFlag([name, summary]: readonly [FlagName, string]): string {
  const { short } = flagOf(name);
  return item(`${short === undefined ? '' : `-${short}, `}${flagUsage(name)}`, summary);
}

function documentCommand({
  usage,
  summary,
  options,
}: (typeof documentCommands)[keyof typeof documentCommands]) {
  const flags = Object.entries(options as OptionSpecs).map(([name, { value, help }]) =>
    item(`--${name}${value === undefined ? '' : ` ${value}`}`, help),
  );
  return withFlags(item(`runner-docs ${usage}`, summary), flags);
}

function withFlags(command: string, flags: readonly string[]): string {
  return flags.length === 0 ? command : [command, '.RS', ...flags, '.RE'].join('\n');
}

/** Without a date, so that a page changes only with what it says. */
function page(name: string, summary: string, sections: readonly string[]): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  return `.\\" Made by "npm run generate".
.TH ${prose(name.toUpperCase())} 1 "" "Runner ${prose(version)}" "Runner"
.nh
.ad l
.SH NAME
${prose(name)} \\- ${prose(summary)}
${sections.join('\n')}
`;
}

function section(title: string, ...parts: readonly string[]): string {
  return [`.SH ${prose(title.toUpperCase())}`, ...parts].join('\n');
}

function paragraph(line: string): string {
  return `.PP\n${line}`;
}

function item(term: string, meaning: string): string {
  return `.TP\n${synopsis(term)}\n${prose(meaning)}`;
}

/** What is typed as it is in bold, and what stands for something else in italics: in the tables it has capitals. */
function synopsis(text: string): string {
  const line = text.replace(/[A-Z]{2,}|\b[A-Z]\b|[\w./~-]+|[^\w./~-]+/g, (part) => {
    const shown = escaped(part);
    if (/^[A-Z]+$/.test(part)) return `\\fI${shown}\\fR`;
    return /\w/.test(part) ? `\\fB${shown}\\fR` : shown;
  });
  return protectedStart(line);
}

/** One line of text that roff shows as it is. */
export function prose(text: string): string {
  return protectedStart(escaped(text));
}

/** A point or a quote at the beginning would make the line a request. */
function protectedStart(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}

/** Of https://man7.org/linux/man-pages/man7/groff_char.7.html: what roff would read or print as something else. */
const special: Readonly<Record<string, string>> = {
  '\\': '\\(rs',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};

function escaped(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\\-'`^~]/g, (character) => special[character] ?? character)
    .replace(/[^\0-\x7f]/gu, (character) => `\\[u${hexOf(character)}]`);
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
