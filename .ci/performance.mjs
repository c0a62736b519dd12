// Makes docs/PERFORMANCE.md and its pictures of what the benchmarks measured.
// Usage: node .ci/performance.mjs [--measure [names]]
//   --measure runs all benchmarks, or those that are named, and keeps their figures in test/bench/measured
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const figuresFolder = 'test/bench/measured';
const { values, positionals } = parseArgs({
  options: { measure: { type: 'boolean' } },
  allowPositionals: true,
});

/** The benchmarks in the order of the page: what a reader wants to know, and the heading. */
const chapters = [
  ['daemon', 'The daemon between an editor and the runner'],
  ['llama', 'A real llama-server'],
  ['engine', 'The engine'],
  ['mixedLoad', 'Mixed load'],
  ['hostile', 'A hostile runner'],
  ['tools', 'Tools of MCP servers'],
  ['sessions', 'Conversations that last'],
  ['stream', 'Reading what a model writes'],
  ['completion', 'Completion as you type'],
  ['models', 'Model management'],
  ['vscode', 'VS Code'],
  ['docsRest', 'The document service'],
  ['docsIndex', 'Search'],
  ['docsMeaning', 'Search by meaning'],
  ['docsQuality', 'The quality of search results'],
  ['docsMcp', 'Search by agents'],
  ['docsPdf', 'PDF'],
  ['docsFormats', 'EPUB'],
  ['docsSoak', 'Strangers at the document service'],
];

const introduction = `---
type: reference
tags: [Measurements]
date: 2026-11-24
description: What the parts of Runner cost, beside the least that the work can cost.
---

# Performance

Each figure stands beside the least that the work can cost, such as the same request without the daemon, a bare Node, or
a scanner that reads each character once. The table has the figures for which the project has set a goal.
\`npm run bench -- NAME\` prints all that a benchmark measures; the names are in the first column.

Timings depend on the machine, so the last column names it. Both sides of a ratio were measured in turns in one run, so
ratios hardly depend on the machine. \`npm run performance -- --measure\` measures everything again, and rewrites this
page and its pictures.
`;

if (values.measure) measure(positionals);
for (const [path, text] of Object.entries(pageOf(readFigures()))) writeFileSync(path, text);

function measure(names) {
  const env = { ...process.env, RUNNER_FIGURES: figuresFolder };
  for (const name of names.length > 0 ? names : ['']) {
    const { status } = spawnSync(process.execPath, ['.ci/bench.mjs', name], { stdio: 'inherit', env });
    if (status !== 0) process.exit(1);
  }
}

function readFigures() {
  return Object.fromEntries(
    readdirSync(figuresFolder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(join(figuresFolder, name), 'utf8')))
      .map((measured) => [measured.bench, measured]),
  );
}

/** The text of each file by its path. */
function pageOf(figures) {
  const unknown = Object.keys(figures).filter((name) => !chapters.some(([known]) => known === name));
  if (unknown.length > 0)
    throw new Error(`${unknown.join(', ')}: give it a heading in ${import.meta.filename}`);
  const files = {};
  const known = chapters.flatMap(([name, heading]) => (figures[name] ? [{ ...figures[name], heading }] : []));
  const machines = [...new Set(known.map(({ machine }) => machine))];
  const rows = known.flatMap((measured) => rowsOf(measured, machines.indexOf(measured.machine) + 1));
  const pictures = known.flatMap((measured) => {
    const { bench, heading } = measured;
    const picture = pictureOf(measured, heading);
    if (picture === undefined) return [];
    files[`docs/pictures/performance-${bench}.svg`] = picture;
    return [`## ${heading}\n\n![${heading}](pictures/performance-${bench}.svg)\n`];
  });
  const table = ['| benchmark | what | measured | goal | machine |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
  const list = machines.map((machine, at) => `${at + 1}. ${machine}`).join('\n');
  files['docs/PERFORMANCE.md'] =
    `${introduction}\n${table}\n\nMachines:\n\n${list}\n\n${pictures.join('\n')}`;
  return files;
}

/** The figures with a goal. A section of a benchmark is named in its first row. */
function rowsOf({ bench, date, sections }, machine) {
  return sections.flatMap(({ title, figures }) =>
    figures
      .filter(({ goal }) => goal !== undefined)
      .map(({ name, shown, goal }, at) => {
        const what = at === 0 ? `**${cell(title)}**: ${cell(name)}` : cell(name);
        return `| \`${bench}\` | ${what} | ${cell(shown)} | ${cell(goal)} | ${machine}, ${date} |`;
      }),
  );
}

function cell(text) {
  return text.replaceAll('|', '\\|').replace(/[`<]/g, (mark) => `\\${mark}`);
}

/** Bars, each row of figures in its own scale. Colours follow the reader's light or dark scheme. */
function pictureOf({ sections }, heading) {
  const rows = sections
    .flatMap(({ figures }) => figures.filter(({ plot }) => plot !== undefined))
    .slice(0, 8);
  if (rows.length === 0) return undefined;
  const [width, left, barHeight] = [760, 250, 16];
  let y = 12;
  const drawn = rows.map(({ name, plot: { unit, bars } }) => {
    const entries = Object.entries(bars);
    const longest = Math.max(...entries.map(([, value]) => value), Number.MIN_VALUE);
    const title = `<text class="name" x="12" y="${y + 13}">${escaped(name)}</text>`;
    y += 22;
    const lines = entries.map(([label, value], at) => {
      const length = Math.max(2, Math.round((value / longest) * (width - left - 150)));
      const line = `<text class="label" x="${left - 10}" y="${y + 12}" text-anchor="end">${escaped(label)}</text><rect class="${at === entries.length - 1 ? 'ours' : 'floor'}" x="${left}" y="${y}" width="${length}" height="${barHeight - 3}" rx="2"/><text class="value" x="${left + length + 8}" y="${y + 12}">${rounded(value)} ${escaped(unit)}</text>`;
      y += barHeight + 2;
      return line;
    });
    y += 10;
    return title + lines.join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="img" font-family="system-ui,sans-serif" font-size="13">
<title>${escaped(heading)}</title>
<style>.name{fill:#1f2328;font-weight:600}.label,.value{fill:#59636e}.ours{fill:#0969da}.floor{fill:#afb8c1}@media(prefers-color-scheme:dark){.name{fill:#e6edf3}.label,.value{fill:#9198a1}.ours{fill:#4493f8}.floor{fill:#484f58}}</style>
${drawn.join('\n')}
</svg>
`;
}

function rounded(value) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
