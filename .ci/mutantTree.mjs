// A private copy of the tree with mutants in it, all built at once and each behind a switch, in the tests, the programs
// and the workers alike. A test file then runs with one of them turned on, or shows which of them it reaches.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createMutantLane } from './mutantLane.mjs';

/** Makes the copy in a temporary folder. `end` removes it, and ends the processes that are left in it. */
export function createMutantTree(mutants) {
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  // A database runs as another user.
  chmodSync(folder, 0o755);
  const [tree, types] = [copyTree(join(folder, 'tree')), copyTree(join(folder, 'types'))];
  plantSwitch(folder, tree);
  for (const path of new Set(mutants.map(({ path }) => path))) {
    const inFile = mutants.filter((mutant) => mutant.path === path);
    writeFileSync(join(tree, path), withMutants(readFileSync(path, 'utf8'), { path, inFile }));
  }
  call(process.execPath, ['esbuild.mjs', '--tests'], tree);
  return {
    testFiles: () => testFilesIn(tree),
    probe: (test, seconds) => probe(folder, { test, seconds }),
    lane: (test) => createMutantLane(laneOptions(folder, test)),
    run: (test, mutant, seconds) => run(folder, { test, active: mutant.id, seconds }),
    isRefusedByTypes: (mutant) => isRefusedByTypes(types, mutant),
    end() {
      endProcessesOf(folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the file has instead of the mutant's place. */
function withMutants(text, { path, inFile }) {
  const byPlace = [...inFile].sort((one, other) => other.start - one.start);
  for (const { id, start, end, was, becomes } of byPlace) {
    const planted =
      becomes === ';'
        ? `{ if (!isMutant('${id}')) ${was} }`
        : `(isMutant('${id}') ? (${becomes}) : (${was}))`;
    text = text.slice(0, start) + planted + text.slice(end);
  }
  // In the first line, so that the numbers of lines stay.
  return `import { isMutant } from './${relative(dirname(path), mutantSwitch)}'; ${text}`;
}

/**
 * Each process reads once which mutant is on, if `mutantWorker.mjs` does not say it. While it is `probe`, it notes
 * which are reached.
 */
function plantSwitch(folder, tree) {
  const text = `
    import { appendFileSync, readFileSync } from 'node:fs';
    const mutants = (globalThis.runnerMutants ??= {
      active: readFileSync(${JSON.stringify(join(folder, 'active'))}, 'utf8'),
      reached: new Set(),
      note: (id) => appendFileSync(${JSON.stringify(join(folder, 'reached'))}, id + '\\n'),
    });
    export function isMutant(id) {
      if (mutants.active !== 'probe') return mutants.active === id && (mutants.wasOn = true);
      if (!mutants.reached.has(id)) mutants.note(id);
      mutants.reached.add(id);
      return false;
    }`;
  writeFileSync(join(tree, mutantSwitch), text);
}

/** In a folder that every image copies. */
const mutantSwitch = 'protocol/mutantSwitch.mjs';

function copyTree(to) {
  const args = ['ls-files', '-co', '--exclude-standard', '-z'];
  const paths = spawnSync('git', args, { encoding: 'utf8' }).stdout.split('\0');
  for (const path of paths) if (path !== '' && existsSync(path)) cpSync(path, join(to, path));
  symlinkSync(resolve('node_modules'), join(to, 'node_modules'));
  return to;
}

/**
 * The test files, each with the mutants that it bundles and those in programs that it starts. What bundles least comes
 * first: it is about that code, and quick.
 */
function testFilesIn(tree) {
  const inPrograms = programs.map(({ files, name }) => {
    const built = readdirSync(join(tree, 'dist'), { recursive: true }).filter((path) => files.test(path));
    return { name, ids: built.flatMap((path) => idsIn(readFileSync(join(tree, 'dist', path), 'utf8'))) };
  });
  return readdirSync('test', { recursive: true })
    .filter((path) => path.endsWith('.test.ts') && !leftOut.test(path))
    .map((path) => {
      const built = join('.tap-build', basename(path).replace(/\.ts$/, '.mjs'));
      const text = readFileSync(join(tree, built), 'utf8');
      const started = inPrograms.filter(({ name }) => name.test(text)).flatMap(({ ids }) => ids);
      return { path: join('test', path), built, size: text.length, bundled: idsIn(text), started };
    })
    .sort((one, other) => one.size - other.size);
}

/** Three read the sources, which are not as they were. What the last one imports are test files of their own. */
const leftOut = /^(?:house|settings|specification|e2e\/vscode)\.test\.ts$/;

/** What is built, and how a test names it that starts it: the extension is packed first. */
const programs = [
  { files: /^(?:docs-service|runner-docs).*\.cjs$/, name: /runner-docs\.cjs|dist\/docs-service/ },
  { files: /^engine\.cjs$/, name: /engine\.cjs|runnerd\.cjs/ },
  { files: /^(?:runnerd|terminal).*\.cjs$/, name: /runnerd\.cjs|terminal\.cjs|package\.mjs/ },
  { files: /^(?:extension|languageClient|continueConfig)\.cjs$/, name: /package\.mjs/ },
];

function idsIn(text) {
  return [...text.matchAll(/isMutant\d*\(["'](\d+)["']\)/g)].map(([, id]) => id);
}

/** Runs it without a mutant. `reached` has the ids of the mutants that it uses. */
async function probe(folder, { test, seconds }) {
  writeFileSync(join(folder, 'reached'), '');
  const ran = await run(folder, { test, active: 'probe', seconds });
  return { ...ran, reached: new Set(readFileSync(join(folder, 'reached'), 'utf8').split('\n')) };
}

/** The test file with its tests collected. Whatever else reads which mutant is on finds none. */
function laneOptions(folder, { built }) {
  const temporary = mkdtempSync(join(folder, 'lane-'));
  chmodSync(temporary, 0o755);
  writeFileSync(join(folder, 'active'), 'none');
  const [cwd, file] = [join(folder, 'tree'), built.replace(/mjs$/, 'lane.mjs')];
  const text = readFileSync(join(cwd, built), 'utf8');
  writeFileSync(
    join(cwd, file),
    text.replace(
      /^import (\w+) from "\.\/packages\/tap\.mjs";$/gm,
      'import { collected as $1 } from "../.ci/collectedTests.mjs";',
    ),
  );
  const env = { ...process.env, TMPDIR: temporary, TAP_TIMEOUT: '0', RUNNER_TEST_PATIENCE: '60000' };
  return { file, cwd, env };
}

/** Runs it alone up to its first failure. `failure` is undefined if it passes. */
async function run(folder, { test, active, seconds }) {
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { mode: 0o755 });
  writeFileSync(join(folder, 'active'), active);
  const output = join(folder, 'output');
  const out = openSync(output, 'w');
  const started = Date.now();
  const env = {
    ...{ ...process.env, TMPDIR: temporary, TAP_BAIL: '1', TAP_TIMEOUT: String(seconds) },
    // Most of what a mutant breaks never comes.
    RUNNER_TEST_PATIENCE: '60000',
  };
  const child = spawn(process.execPath, [test.built], {
    ...{ cwd: join(folder, 'tree'), env, detached: true, stdio: ['ignore', out, 'ignore'] },
  });
  const limit = setTimeout(() => end(-child.pid), (seconds + 5) * 1000);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  clearTimeout(limit);
  closeSync(out);
  end(-child.pid);
  endProcessesOf(folder);
  rmSync(temporary, { recursive: true, force: true });
  const failure = code === 0 ? undefined : firstFailure(readFileSync(output, 'utf8'));
  return { failure, seconds: (Date.now() - started) / 1000 };
}

function firstFailure(output) {
  const [before, name] = output.split(/^ *not ok \d+ - (.*?)(?: #.*)?$/m);
  if (name === undefined) return 'took too long, or ended early';
  const [, group] = /# Subtest: (.*)$/m.exec(before.slice(before.lastIndexOf('# Subtest: '))) ?? [];
  const failure = group && group !== name ? `${group}: ${name}` : name;
  // A page may be in it.
  return failure.length > 200 ? `${failure.slice(0, 200)} …` : failure;
}

/** Programs that a test started in a group of their own, and did not end since it was ended itself. */
function endProcessesOf(folder) {
  if (!existsSync('/proc/self')) return;
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const has = (name) => readIfThere(`/proc/${id}/${name}`).includes(folder);
    if (Number(id) !== process.pid && (has('cmdline') || has('environ'))) end(Number(id));
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** A process, or its group if the number is negative; it may have ended. */
function end(id) {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    return;
  }
}

/** Without a mutant, whether the tree itself has wrong types. */
function isRefusedByTypes(tree, mutant) {
  if (mutant === undefined) return !hasRightTypes(tree);
  const { path, start, end, becomes } = mutant;
  const file = join(tree, path);
  const text = readFileSync(file, 'utf8');
  // An empty statement may not be the body of an `if`.
  writeFileSync(file, text.slice(0, start) + (becomes === ';' ? '{}' : becomes) + text.slice(end));
  const isRefused = !hasRightTypes(tree);
  writeFileSync(file, text);
  return isRefused;
}

function hasRightTypes(tree) {
  // The folder of packages, where the record would be, is that of the user's tree.
  const args = ['node_modules/typescript/bin/tsc', '-p', '.', '--tsBuildInfoFile', 'types.json'];
  return spawnSync(process.execPath, args, { cwd: tree }).status === 0;
}

function call(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed.\n${stdout}${stderr}`);
}
