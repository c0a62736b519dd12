// Draws mutants of the product, small changes that should break it, and shows which of them no test notices. Each is
// turned on alone, and the test files that reach it run, until one fails or takes too long: those about its room first,
// the smallest before the others, and those of whole programs last. What the types refuse is dead as well: they are a
// gate.
// Usage: node .ci/mutants.mjs [--rooms daemon,client] [--count 60] [--seed N] [--part 1/2] [--list] [--reach] [--near]
//   --part 1/2 judges only half of the mutants, and 2/2 the others, so that two runs share the work; --list only lists
//   what would be drawn; --reach judges none and lists the places that no test reaches, all of them if the count is
//   large; --near runs only the tests about a mutant's room.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutantsOf } from './mutantSites.mjs';
import { createMutantTree } from './mutantTree.mjs';

/** How long a test file may take without a mutant, in seconds, and at least with one. */
const [longest, patience] = [1200, 90];

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
    near: { type: 'boolean', default: false },
  },
});
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
    const mayReach = [...test.bundled, ...test.started].some(
      (id) => unreached.has(id) && (!values.near || isNear(test, unreached.get(id))),
    );
    if (!mayReach) continue;
    const { failure, reached } = await tree.probe(test, longest);
    if (failure !== undefined) console.log(`left out: ${test.path}, which fails: ${failure}`);
    else for (const id of reached) unreached.delete(id);
  }
  for (const mutant of unreached.values()) console.log(`unreached: ${describe(mutant)}`);
  console.log(`${unreached.size} of ${mutants.length} places are reached by no test`);
}

async function judge(tree) {
  const judgeOne = judgeWith(tree);
  for (const mutant of mutants) await judgeOne(mutant, 'near');
  if (tree.isRefusedByTypes()) console.log('left out: the types, which are wrong without a mutant');
  else for (const mutant of alive()) if (tree.isRefusedByTypes(mutant)) bury(mutant, 'the types');
  if (!values.near) for (const mutant of alive()) await judgeOne(mutant, 'far');
  report();
}

function judgeWith(tree) {
  const tests = tree.testFiles();
  const probes = new Map();
  /** What a test file reaches. One that fails without a mutant proves nothing. */
  const probe = async (test) => {
    const { failure, seconds, reached } = await tree.probe(test, longest);
    if (failure === undefined) return { seconds, reached };
    console.log(`left out: ${test.path}, which fails without a mutant: ${failure}`);
    return { seconds, reached: new Set() };
  };
  return async (mutant, distance) => {
    for (const test of testsFor(mutant, tests)[distance]) {
      if (!probes.has(test)) probes.set(test, await probe(test));
      const { seconds, reached } = probes.get(test);
      if (!reached.has(mutant.id)) continue;
      mutant.reachedBy.push(test.path);
      const { failure } = await tree.run(test, mutant, Math.ceil(Math.max(patience, seconds * 4)));
      if (failure !== undefined) return bury(mutant, `${test.path}: ${failure}`);
    }
    console.log(`alive after the ${distance} tests: ${describe(mutant)}`);
  };
}

/**
 * The near ones are about the mutant's room. Those that bundle it are first, and those that start it in a program last.
 */
function testsFor(mutant, tests) {
  const bundling = tests.filter(({ bundled }) => bundled.includes(mutant.id));
  const starting = tests.filter((test) => test.started.includes(mutant.id) && !bundling.includes(test));
  const reaching = [...bundling, ...starting];
  const near = reaching.filter((test) => isNear(test, mutant));
  return { near, far: reaching.filter((test) => !near.includes(test)) };
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
    const reachedBy = mutant.reachedBy.map((path) => path.replace(/^test\/|\.test\.ts$/g, '')).join(', ');
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
    const all = room.files.flatMap(({ path, text }) => mutantsOf(path, text));
    while (drawn.length < Math.round(due) && all.length > 0) {
      const kinds = [...new Set(all.map(({ kind }) => kind))];
      const kind = kinds[random(kinds.length)];
      const ofKind = all.filter((mutant) => mutant.kind === kind);
      const [mutant] = all.splice(all.indexOf(ofKind[random(ofKind.length)]), 1);
      if (drawn.some((other) => overlaps(mutant, other))) continue;
      const { text } = room.files.find(({ path }) => path === mutant.path);
      const id = String(drawn.length + 1);
      drawn.push({ ...mutant, id, room: name, diff: diffOf(mutant, text), reachedBy: [] });
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
