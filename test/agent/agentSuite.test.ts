import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { needs, type Part } from '../support/parts.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { acp, type Door, neovim, person, script } from './doors.ts';
import { filesOf, testsOf } from './project.ts';
import { serveModel } from './scriptedModel.ts';
import { type Task, tasks } from './tasks.ts';

/** Of each trial: its rounds, and the tokens of its largest prompt and of all. */
type Cost = readonly [rounds: number, largest: number, tokens: number];

/**
 * Where the figures are written. Without it, the smaller window alone is tried, against the figures of before; a
 * program beside ACP has only what it does in its own way: it asks, it shows edits, or it ends an answer that never
 * stops.
 */
const figuresFile = process.env['RUNNER_AGENT_FIGURES'];
const windows = figuresFile === undefined ? [8_192] : [8_192, 16_384];
const before = JSON.parse(readFileSync(join('test', 'fixtures', 'agentSuite.json'), 'utf8')) as Record<
  string,
  Cost
>;
const measured: { [trial: string]: Cost } = {};

for (const window of windows)
  for (const model of ['capable', 'clumsy'] as const)
    for (const task of tasks) {
      const isAsked = task.mode === 'ask';
      const trial = { model, task, window };
      run({ ...trial, place: 'acp', door: acp });
      if (figuresFile !== undefined || isAsked || /^(1|8|12b):/.test(task.name))
        run({
          ...{ ...trial, place: 'terminal' },
          ...(isAsked ? { door: person, parts: ['tmux'] } : { door: script }),
        });
      if (window === 8_192 && /^(1|11):/.test(task.name))
        run({ ...trial, place: 'neovim', door: neovim, parts: ['neovim'] });
    }

interface Trial {
  readonly place: string;
  readonly door: Door;
  readonly model: 'capable' | 'clumsy';
  readonly task: Task;
  readonly window: number;
  readonly parts?: readonly Part[];
}

function run({ place, door, model, task, window, parts = [] }: Trial): void {
  t.test(`${task.name}, ${place}, ${model}, ${window}`, needs(...parts), async (t) => {
    const top = await realpath(await temporaryFolder(t));
    const [folder, home] = [join(top, 'proj'), join(top, 'home')];
    await mkdir(home);
    await writeFiles(folder, task.files);
    const { url, close, figures, answers, sent } = await serveModel(task[model]);
    t.teardown(close);
    const { answer, isStopped, undone, done } = await door({ t, task, folder, home, url, window, answers });
    const left = filesOf(folder);
    const mistakes = task.mistakes({ answer, files: done ?? left, exitCode: testsOf(folder), sent: sent() });
    t.strictSame(mistakes, []);
    t.equal(isStopped, task.isStopped ?? false, 'how it ends');
    if (undone) t.strictSame(undone, new Map(Object.entries(task.files)), 'all is taken back');
    t.ok(figures.largest <= window - Math.max(1_024, window / 8), 'each prompt leaves room');
    const name = `${task.name.split(':')[0]} ${place} ${model} ${window}`;
    if (t.passing()) measured[name] = [figures.rounds, figures.largest, figures.tokens];
    const [rounds = 0, , tokens = 0] = before[name] ?? [];
    if (figuresFile === undefined)
      t.ok(
        figures.rounds <= rounds * 1.1 && figures.tokens <= tokens * 1.1,
        `${figures.rounds} rounds and ${figures.tokens} tokens; before, ${rounds} and ${tokens}`,
      );
  });
}

t.teardown(() => {
  if (figuresFile !== undefined) writeFileSync(figuresFile, JSON.stringify(measured));
});
