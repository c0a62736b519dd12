import type { OptionSpecs } from '../base/options.ts';
import type { Command } from '../commands/command.ts';

type Described = Pick<Command, 'usage' | 'summary' | 'options'>;

export function programHelp(version: string, commands: readonly Described[]): string {
  const rows = commands.map(({ usage, summary }) => [`runner-docs ${usage}`, summary] as const);
  return `runner-docs ${version}: documents for programs, readers and agents

${columns(rows)}

Each command has --help. Each flag has a variable too: --base-url is DOCS_BASE_URL.
docs/DOCUMENTS.md explains everything: content, search, PDF and EPUB, hosting.
`;
}

export function commandHelp({ usage, summary, options }: Described): string {
  const rows = Object.entries(options as OptionSpecs).map(
    ([name, { value, help }]) => [`--${name}${value === undefined ? '' : ` ${value}`}`, help] as const,
  );
  return `runner-docs ${usage}

${summary}

${columns(rows)}
`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
