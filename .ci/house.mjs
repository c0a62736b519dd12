// Holds the house to the budgets of budgets.json: its size, how it is cut, and how many files a request passes. A
// figure above its budget fails; for one below it, the line that lowers the budget is printed. A commit that raises a
// budget must say why.
// Usage: node .ci/house.mjs [--list] [--quiet]
// --list also names the files behind some figures; --quiet prints only what differs from its budget, or is wrong.
import { readFileSync } from 'node:fs';
import { unexplainedRaises } from './budgetHistory.mjs';
import { countSources } from './houseFigures.mjs';
import { measureJourneys } from './journeys.mjs';

const budgetsFile = '.ci/budgets.json';
const howToRaise = 'The message of a commit that raises a budget has a line "Budget: …", which says why.';
const flags = new Set(process.argv.slice(2));
for (const flag of flags) if (!['--list', '--quiet'].includes(flag)) end(`There is no flag ${flag}.`);
const budgets = readBudgets();

const { figures, facts, filesBehind } = countSources();
const rowOf = (journey) => `files passed by ${journey}`;
if (process.platform === 'win32') {
  // A program that is ended there writes no coverage: these figures are counted on the other systems.
  for (const row of Object.keys(budgets).filter((row) => row.startsWith(rowOf(''))))
    figures[row] = budgets[row];
} else {
  for (const [name, { number, files }] of await measureJourneys((name) => budgets[rowOf(name)])) {
    figures[rowOf(name)] = number;
    filesBehind[rowOf(name)] = files;
  }
}

const rows = Object.keys({ ...figures, ...budgets });
const over = rows.filter((row) => figures[row] > budgets[row]);
const raises = unexplainedRaises(budgetsFile, budgets);
const problems = [
  ...over.map(
    (row) =>
      `${row}: ${shown(figures[row])}, ${shown(figures[row] - budgets[row])} over the budget of ${shown(budgets[row])}.`,
  ),
  ...rows
    .filter((row) => budgets[row] === undefined)
    .map((row) => `${row}: no budget. Add this line to ${budgetsFile}: ${lineOf(row)}`),
  ...rows
    .filter((row) => figures[row] === undefined)
    .map((row) => `${row}: nothing is counted under this name. Remove its line from ${budgetsFile}.`),
  ...raises
    .filter(({ commit }) => commit !== undefined)
    .map(
      ({ row, from, to, commit }) =>
        `${row}: commit ${commit} raised the budget from ${shown(from)} to ${shown(to)} without a reason. Lower it again, or amend the message. ${howToRaise}`,
    ),
];
const notes = [
  ...rows
    .filter((row) => figures[row] < budgets[row])
    .map((row) => `${row}: ${shown(budgets[row] - figures[row])} under the budget. Lower it: ${lineOf(row)}`),
  ...raises
    .filter(({ commit }) => commit === undefined)
    .map(
      ({ row, from, to }) =>
        `${row}: the budget is raised from ${shown(from)} to ${shown(to)}. ${howToRaise}`,
    ),
];
if (!flags.has('--quiet')) {
  for (const row of rows) print(row, `${shown(figures[row])} of ${shown(budgets[row])}`);
  for (const [name, value] of Object.entries(facts)) print(name, value);
}
for (const line of [...notes, ...problems]) console.log(line);
if (over.length > 0) console.log(`Make room, or raise the budget in ${budgetsFile}. ${howToRaise}`);
if (flags.has('--list'))
  for (const [row, lines] of Object.entries(filesBehind)) console.log(`\n${row}:\n  ${lines.join('\n  ')}`);
process.exitCode = problems.length === 0 ? 0 : 1;

function readBudgets() {
  try {
    const read = JSON.parse(readFileSync(budgetsFile, 'utf8'));
    const wrong = Object.keys(read).find((row) => !Number.isInteger(read[row]));
    return wrong === undefined ? read : end(`${budgetsFile}: the budget of "${wrong}" is no whole number.`);
  } catch (error) {
    return end(`${budgetsFile} cannot be read: ${error.message}`);
  }
}

function end(problem) {
  console.error(problem);
  process.exit(2);
}

function print(name, value) {
  console.log(`${name.padEnd(55)} ${value}`);
}

function lineOf(row) {
  const isLast = row === Object.keys(budgets).at(-1);
  return `"${row}": ${figures[row]}${isLast ? '' : ','}`;
}

function shown(number) {
  return number?.toLocaleString('en') ?? 'none';
}
