import { escapeMarkup } from '../../../protocol/base/text.ts';
import type { Remedy } from './remedies.ts';

/** A page for an editor tab. All of its texts are escaped, whoever wrote them. */
export interface PageContent {
  readonly title: string;
  readonly sections: readonly PageSection[];
}

export interface PageSection {
  readonly heading?: string;
  readonly lines?: readonly PageLine[];
  /** A table of names and values. */
  readonly facts?: readonly (readonly [name: string, value: string])[];
  /** Text of a program, such as a template. */
  readonly code?: string;
  /** Why the rest of the page could not be loaded again. */
  readonly isProblem?: true;
}

export interface PageLine {
  /** `bad` has to be fixed; without a state it is a remark. */
  readonly state?: 'good' | 'bad';
  readonly text: string;
  readonly links?: readonly Remedy[];
}

/** The most characters that are shown of one text. */
const maxTextLength = 20_000;

/** A complete HTML document without scripts, in the colours of the editor. It is as of a time, such as `14:05:10`. */
export function toHtml({ title, sections, time }: PageContent & { readonly time?: string }): string {
  return [
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${escapeMarkup(title)}</title><style>${style}</style></head><body><main><h1>${escapeMarkup(title)}</h1>`,
    ...sections.map(sectionToHtml),
    time === undefined ? '' : `<footer>As of ${escapeMarkup(time)}</footer>`,
    '</main></body></html>',
  ].join('\n');
}

/** The commands of the page's links, which are the only ones that it may run. */
export function commandsOf({ sections }: PageContent): readonly string[] {
  const links = sections.flatMap(({ lines = [] }) => lines.flatMap(({ links = [] }) => links));
  return [...new Set(links.map(({ command }) => command))];
}

function sectionToHtml({ heading, lines = [], facts = [], code }: PageSection): string {
  return [
    '<section>',
    heading === undefined ? '' : `<h2>${escapeMarkup(heading)}</h2>`,
    lines.length === 0 ? '' : `<ul>${lines.map(lineToHtml).join('')}</ul>`,
    facts.length === 0 ? '' : `<table>${facts.map(factToHtml).join('')}</table>`,
    code === undefined ? '' : `<pre>${escapeMarkup(cut(code))}</pre>`,
    '</section>',
  ].join('');
}

/** Screen readers do not read the mark, so `bad` is also said in words. */
function lineToHtml({ state, text, links = [] }: PageLine): string {
  const mark = state === undefined ? '•' : state === 'good' ? '✓' : '✗';
  const said = state === 'bad' ? 'To fix: ' : '';
  const actions = links.map(
    (link) => `<a href="${escapeMarkup(toUri(link))}">${escapeMarkup(link.title)}</a>`,
  );
  const row = actions.length === 0 ? '' : `<nav>${actions.join(' ')}</nav>`;
  return `<li class="${state ?? 'note'}"><span aria-hidden="true">${mark}</span><div>${escapeMarkup(said + cut(text))}${row}</div></li>`;
}

function factToHtml([name, value]: readonly [string, string]): string {
  return `<tr><th scope="row">${escapeMarkup(name)}</th><td>${escapeMarkup(cut(value))}</td></tr>`;
}

function toUri({ command, arguments: given = [] }: Remedy): string {
  return `command:${command}${given.length === 0 ? '' : `?${encodeURIComponent(JSON.stringify(given))}`}`;
}

function cut(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}\n(cut)` : text;
}

const style = `
body { font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); color: var(--vscode-foreground); line-height: 1.5; }
main { max-width: 46rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6em; font-weight: 600; } h2 { font-size: 1.2em; font-weight: 600; margin-top: 1.6em; }
ul { list-style: none; padding: 0; } li { display: flex; gap: .7em; margin: .5em 0; }
.good > span { color: var(--vscode-testing-iconPassed); } .bad > span { color: var(--vscode-testing-iconFailed); }
footer { margin-top: 2em; color: var(--vscode-descriptionForeground); }
nav { margin: .4em 0; display: flex; flex-wrap: wrap; gap: .5em; }
nav a { padding: .2em .8em; border-radius: 2px; text-decoration: none; color: var(--vscode-button-foreground); background: var(--vscode-button-background); }
nav a:hover { background: var(--vscode-button-hoverBackground); }
th { text-align: left; font-weight: normal; vertical-align: top; padding: .15em 2em .15em 0; color: var(--vscode-descriptionForeground); white-space: nowrap; }
pre { padding: .8em; background: var(--vscode-textCodeBlock-background); white-space: pre-wrap; font-family: var(--vscode-editor-font-family); }
`;
