import type { WayOut } from '../waysOut.ts';

/** A page that is read in an editor tab. Every text in it is shown as it is, whoever wrote it. */
export interface Page {
  readonly title: string;
  readonly sections: readonly Section[];
}

export interface Section {
  readonly heading?: string;
  readonly lines?: readonly Line[];
  /** A table of names and values. */
  readonly facts?: readonly (readonly [name: string, value: string])[];
  /** Text of a program, such as a template. */
  readonly code?: string;
}

export interface Line {
  /** Whether it is well, or has to be mended; neither is a remark. */
  readonly state?: 'good' | 'bad';
  readonly text: string;
  readonly links?: readonly WayOut[];
}

/** The characters of one text that are shown. */
const most = 20_000;

/** A whole document without scripts, in the colours of the editor. */
export function toHtml({ title, sections }: Page): string {
  return [
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${escaped(title)}</title><style>${style}</style></head><body><main><h1>${escaped(title)}</h1>`,
    ...sections.map(sectionToHtml),
    '</main></body></html>',
  ].join('\n');
}

/** The commands that a page may run: those of its links. */
export function commandsOf({ sections }: Page): readonly string[] {
  const links = sections.flatMap(({ lines = [] }) => lines.flatMap(({ links = [] }) => links));
  return [...new Set(links.map(({ command }) => command))];
}

function sectionToHtml({ heading, lines = [], facts = [], code }: Section): string {
  return [
    '<section>',
    heading === undefined ? '' : `<h2>${escaped(heading)}</h2>`,
    lines.length === 0 ? '' : `<ul>${lines.map(lineToHtml).join('')}</ul>`,
    facts.length === 0 ? '' : `<table>${facts.map(factToHtml).join('')}</table>`,
    code === undefined ? '' : `<pre>${escaped(cut(code))}</pre>`,
    '</section>',
  ].join('');
}

/** The mark is said in words too, for who does not see it. */
function lineToHtml({ state, text, links = [] }: Line): string {
  const mark = state === undefined ? '•' : state === 'good' ? '✓' : '✗';
  const said = state === 'bad' ? 'To mend: ' : '';
  const actions = links.map((link) => `<a href="${escaped(toUri(link))}">${escaped(link.title)}</a>`);
  const row = actions.length === 0 ? '' : `<nav>${actions.join(' ')}</nav>`;
  return `<li class="${state ?? 'note'}"><span aria-hidden="true">${mark}</span><div>${escaped(said + cut(text))}${row}</div></li>`;
}

function factToHtml([name, value]: readonly [string, string]): string {
  return `<tr><th scope="row">${escaped(name)}</th><td>${escaped(cut(value))}</td></tr>`;
}

function toUri({ command, arguments: given = [] }: WayOut): string {
  return `command:${command}${given.length === 0 ? '' : `?${encodeURIComponent(JSON.stringify(given))}`}`;
}

function cut(text: string): string {
  return text.length > most ? `${text.slice(0, most)}\n(cut)` : text;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

const style = `
body { font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); color: var(--vscode-foreground); line-height: 1.5; }
main { max-width: 46rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6em; font-weight: 600; } h2 { font-size: 1.2em; font-weight: 600; margin-top: 1.6em; }
ul { list-style: none; padding: 0; } li { display: flex; gap: .7em; margin: .5em 0; }
.good > span { color: var(--vscode-testing-iconPassed); } .bad > span { color: var(--vscode-testing-iconFailed); }
nav { margin: .4em 0; display: flex; flex-wrap: wrap; gap: .5em; }
nav a { padding: .2em .8em; border-radius: 2px; text-decoration: none; color: var(--vscode-button-foreground); background: var(--vscode-button-background); }
nav a:hover { background: var(--vscode-button-hoverBackground); }
th { text-align: left; font-weight: normal; vertical-align: top; padding: .15em 2em .15em 0; color: var(--vscode-descriptionForeground); white-space: nowrap; }
pre { padding: .8em; background: var(--vscode-textCodeBlock-background); white-space: pre-wrap; font-family: var(--vscode-editor-font-family); }
`;
