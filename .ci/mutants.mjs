// Draws mutants of the product, small changes that should break it, and shows which of them no test notices. Each is
// turned on alone. First the tests that bundle its code run, those of a file in one process, until one fails or takes
// too long; then the types judge, which are a gate; and last the tests of whole programs, those about its room first.
// Usage: node .ci/mutants.mjs [--rooms daemon,client] [--count 60] [--seed N] [--part 1/2] [--kinds 'moved boundary']
//   [--list | --reach | --quick] [--tests daemon/tools,base] [--lanes N]
//   --part 1/2 judges only half of the mutants, and 2/2 the others, so that two runs share the work; --list only lists
//   what would be drawn; --reach judges none and lists the places that no test reaches, all of them if the count is
//   large; --quick judges by bundled tests alone, at most 20 seconds for a mutant, --tests by those whose path under
//   test/ begins so; --lanes is how many processes judge at once.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutantsOf } from './mutantSites.mjs';
import { createMutantTree } from './mutantTree.mjs';

/** How long a test file may take without a mutant, in seconds, and at least with one. */
const [longest, patience] = [1200, 90];
/** How long `--quick` spends on a mutant, in seconds. */
const quickly = 20;

/** The tests that are about the code of each room, rather than only bundle it: folders, and those of its program. */
const nearTests = {
  client: ['terminal/', 'vscode/', 'e2e/terminal.test.ts', 'e2e/vscodeCommands.test.ts'],
  daemon: [
    ...['acp/', 'completion/', 'daemon/', 'engine/', 'practice/', 'stream/'],
    ...['e2e/engineLife.test.ts', 'e2e/runnerd.test.ts'],
  ],
  protocol: ['base.test.ts', 'daemon/', 'terminal/', 'vscode/'],
  'docs-service': ['docs/', 'e2e/docsService.test.ts'],
};

const { values } = parseArgs({
  options: {
    rooms: { type: 'string', default: 'daemon,client,protocol,docs-service' },
    count: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    part: { type: 'string', default: '1/1' },
    list: { type: 'boolean', default: false },
    reach: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    tests: { type: 'string', default: '' },
    lanes: { type: 'string', default: String(availableParallelism()) },
    kinds: { type: 'string', default: '' },
  },
});
for (const room of values.rooms.split(',')) {
  if (existsSync(room)) continue;
  console.error(
    `There is no room ${room}. A room is a folder of the sources, such as daemon or client/terminal.`,
  );
  process.exit(2);
}
const [part, parts] = values.part.split('/').map(Number);
const drawn = draw(values.rooms.split(','), Number(values.count), randomFrom(Number(values.seed)));
const mutants = drawn.filter((_, index) => index % parts === part - 1);
console.log(`${mutants.length} mutants of ${values.rooms}, drawn with --seed ${values.seed}`);
if (values.list) for (const mutant of mutants) console.log(describe(mutant));
else await withTree(values.reach ? findUnreached : judge);

async function withTree(work) {
  const tree = createMutantTree(mutants);
  const stop = () => {
    tree.end();
    process.exit(130);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await work(tree);
  } finally {
    tree.end();
  }
}

async function findUnreached(tree) {
  const tests = tree.testFiles();
  const unreached = new Map(mutants.map((mutant) => [mutant.id, mutant]));
  for (const test of tests) {
    if (![...test.bundled, ...test.started].some((id) => unreached.has(id))) continue;
    const { failure, reached } = await tree.probe(test, longest);
    if (failure !== undefined) console.log(`left out: ${test.path}, which fails: ${failure}`);
    else for (const id of reached) unreached.delete(id);
  }
  for (const mutant of unreached.values()) console.log(`unreached: ${describe(mutant)}`);
  console.log(`${unreached.size} of ${mutants.length} places are reached by no test`);
}

async function judge(tree) {
  await judgeInLanes(tree);
  if (!values.quick) {
    if (tree.isRefusedByTypes()) console.log('left out: the types, which are wrong without a mutant');
    else for (const mutant of alive()) if (tree.isRefusedByTypes(mutant)) bury(mutant, 'the types');
    const judgeOne = judgeByFiles(tree);
    for (const mutant of alive()) await judgeOne(mutant);
  }
  report();
}

/** By the tests that bundle it: a lane for each processor, each with one test file at a time. */
async function judgeInLanes(tree) {
  const waiting = tree.testFiles().filter((test) => isUnit(test) && isWanted(test));
  const judged = new Set();
  const work = async () => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      const mayReach = alive().filter(({ id }) => test.bundled.includes(id));
      if (mayReach.length === 0) continue;
      const lane = tree.lane(test);
      if (await lane.probe()) await judgeIn(lane, { test, mayReach });
      else console.log(`left out: ${test.path}, which does not load`);
      lane.end();
    }
  };
  /** What another lane judges just now comes last. */
  const judgeIn = async (lane, { test, mayReach }) => {
    const reached = mayReach.filter((mutant) => lane.reaches(mutant));
    for (const mutant of reached) mutant.reachedBy.add(test.path);
    for (let pass = 0; pass < 2; pass += 1)
      for (const mutant of reached.splice(0)) {
        if (mutant.killer !== undefined) continue;
        if (judged.has(mutant) && pass === 0) {
          reached.push(mutant);
          continue;
        }
        judged.add(mutant);
        const started = performance.now();
        const left = values.quick ? quickly - (mutant.seconds ?? 0) : longest;
        const failure = left > 0 ? await lane.judge(mutant, left) : undefined;
        mutant.seconds = (mutant.seconds ?? 0) + (performance.now() - started) / 1000;
        judged.delete(mutant);
        if (failure !== undefined && mutant.killer === undefined) bury(mutant, `${test.path}: ${failure}`);
      }
  };
  await Promise.all(Array.from({ length: Number(values.lanes) }, work));
}

/** By the tests of whole programs, and by others that start a program with it, each file in a process of its own. */
function judgeByFiles(tree) {
  const tests = tree.testFiles();
  const probes = new Map();
  /** What a test file reaches. One that fails without a mutant proves nothing. */
  const probe = async (test) => {
    const { failure, seconds, reached } = await tree.probe(test, longest);
    if (failure === undefined) return { seconds, reached };
    console.log(`left out: ${test.path}, which fails without a mutant: ${failure}`);
    return { seconds, reached: new Set() };
  };
  return async (mutant) => {
    for (const test of testsFor(mutant, tests)) {
      if (!probes.has(test)) probes.set(test, await probe(test));
      const { seconds, reached } = probes.get(test);
      if (!reached.has(mutant.id)) continue;
      mutant.reachedBy.add(test.path);
      const { failure } = await tree.run(test, mutant, Math.ceil(Math.max(patience, seconds * 4)));
      if (failure !== undefined) return bury(mutant, `${test.path}: ${failure}`);
    }
    console.log(`alive after all tests: ${describe(mutant)}`);
  };
}

/** Those about the mutant's room come first, and of them those that bundle it. A lane has judged by the others. */
function testsFor(mutant, tests) {
  const rank = (test) => (isNear(test, mutant) ? 0 : 2) + (test.bundled.includes(mutant.id) ? 0 : 1);
  return tests
    .filter((test) => test.started.includes(mutant.id) || (!isUnit(test) && test.bundled.includes(mutant.id)))
    .sort((one, other) => rank(one) - rank(other));
}

function isUnit({ path }) {
  return !path.startsWith(join('test', 'e2e'));
}

function isWanted({ path }) {
  return values.tests.split(',').some((place) => path.startsWith(join('test', place)));
}

function isNear({ path }, { room }) {
  return nearTests[room.split('/')[0]].some((place) => path.startsWith(join('test', place)));
}

function alive() {
  return mutants.filter(({ killer }) => killer === undefined);
}

function bury(mutant, killer) {
  mutant.killer = killer;
  console.log(`died: ${mutant.path}:${mutant.line} (${mutant.kind}), by ${killer}`);
}

function report() {
  for (const mutant of alive()) {
    const reachedBy = Array.from(mutant.reachedBy, (path) => path.replace(/^test\/|\.test\.ts$/g, '')).join(
      ', ',
    );
    console.log(`\nsurvived: ${describe(mutant)}\n  reached by: ${reachedBy || 'no test'}`);
  }
  console.log('');
  for (const room of new Set(mutants.map(({ room }) => room)))
    console.log(`${room}: ${scoreOf(mutants.filter((mutant) => mutant.room === room))}`);
  console.log(`in all: ${scoreOf(mutants)}`);
}

function scoreOf(some) {
  const dead = some.filter(({ killer }) => killer !== undefined).length;
  return `${dead} of ${some.length} died (${Math.floor((100 * dead) / some.length)} %)`;
}

function describe({ path, line, kind, diff }) {
  return `${path}:${line} (${kind})\n${diff}`;
}

/** The lines as they were and as they are. */
function diffOf({ start, end, becomes }, text) {
  const [from, to] = [text.lastIndexOf('\n', start - 1) + 1, text.indexOf('\n', end)];
  const lines = (sign, some) => some.replace(/^\s*/gm, `  ${sign} `);
  const changed = text.slice(from, start) + becomes + text.slice(end, to);
  return `${lines('-', text.slice(from, to))}\n${lines('+', changed)}`;
}

/** Spread over the rooms by their lines, and in each over the kinds of mutants. No two overlap. */
function draw(tops, count, random) {
  const rooms = roomsOf(tops);
  const lines = [...rooms.values()].reduce((sum, room) => sum + room.lines, 0);
  const drawn = [];
  let due = 0;
  for (const [name, room] of rooms) {
    due += (count * room.lines) / lines;
    const all = room.files
      .flatMap(({ path, text }) => mutantsOf(path, text))
      .filter(({ kind }) => values.kinds === '' || values.kinds.split(',').includes(kind));
    while (drawn.length < Math.round(due) && all.length > 0) {
      const kinds = [...new Set(all.map(({ kind }) => kind))];
      const kind = kinds[random(kinds.length)];
      const ofKind = all.filter((mutant) => mutant.kind === kind);
      const [mutant] = all.splice(all.indexOf(ofKind[random(ofKind.length)]), 1);
      if (drawn.some((other) => overlaps(mutant, other))) continue;
      const { text } = room.files.find(({ path }) => path === mutant.path);
      const id = String(drawn.length + 1);
      drawn.push({ ...mutant, id, room: name, diff: diffOf(mutant, text), reachedBy: new Set() });
    }
  }
  return drawn;
}

function overlaps(one, other) {
  return one.path === other.path && one.start < other.end && other.start < one.end;
}

/** The folders of the first and second level, with their files and lines. */
function roomsOf(tops) {
  const rooms = new Map();
  const paths = tops.flatMap((top) => readdirSync(top, { recursive: true }).map((path) => join(top, path)));
  for (const path of paths.filter((path) => path.endsWith('.ts')).sort()) {
    const name = dirname(path).split('/').slice(0, 2).join('/');
    const room = rooms.get(name) ?? { files: [], lines: 0 };
    const text = readFileSync(path, 'utf8');
    room.files.push({ path, text });
    room.lines += text.split('\n').length;
    rooms.set(name, room);
  }
  return rooms;
}

/** Whole numbers below a limit, the same for the same seed (mulberry32). */
function randomFrom(seed) {
  return (limit) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}
