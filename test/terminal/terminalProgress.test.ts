import fc from 'fast-check';
import t from 'tap';
import { columnsOf } from '../../client/terminal/screen/columns.ts';
import { createStyle } from '../../client/terminal/screen/output.ts';
import { drawBars, drawProgress } from '../../client/terminal/screen/progressBars.ts';
import { ProgressTracker, SpeedMeter } from '../../client/terminal/screen/progressTracker.ts';
import type { PartProgress, WorkProgress } from '../../protocol/messages/progress.ts';
import { anyText } from '../support/anyText.ts';

t.test('how progress is drawn', async (t) => {
  const style = createStyle(false);
  const part = (name: string, completed: number, total: number, speed?: number) => ({
    name,
    completed,
    total,
    ...(speed === undefined ? {} : { speed }),
  });
  const state = {
    title: 'Pulling m',
    message: 'Downloading',
    percentage: 50,
    completed: 1e9,
    total: 2e9,
    speed: 30e6,
    parts: [
      part('a1', 10, 10),
      part('a2', 500e6, 1e9, 10e6),
      part('a3\u001b[31m', 20, 20),
      part('a4', 500e6, 1e9, 20e6),
    ],
  };
  const cases = [
    {
      name: 'wide',
      size: { columns: 100, rows: 24 },
      want: [
        'Pulling m · Downloading',
        'a1       ████████████████████████████████████████  100 %       10 of 10 B',
        'a2       ████████████████████░░░░░░░░░░░░░░░░░░░░   50 %    0.5 of 1.0 GB   10.0 MB/s       50s',
        'a3␛[31m  ████████████████████████████████████████  100 %       20 of 20 B',
        'a4       ████████████████████░░░░░░░░░░░░░░░░░░░░   50 %    0.5 of 1.0 GB   20.0 MB/s       25s',
        'total    ████████████████████░░░░░░░░░░░░░░░░░░░░   50 %    1.0 of 2.0 GB   30.0 MB/s       34s',
      ],
    },
    {
      name: 'narrow',
      size: { columns: 44, rows: 24 },
      want: [
        'Pulling m · Downloading',
        'a1       ██████████  100 %       10 of 10 B',
        'a2       █████░░░░░   50 %    0.5 of 1.0 GB',
        /^a3/,
        /^a4/,
        /^total/,
      ],
    },
    {
      name: 'very narrow',
      size: { columns: 16, rows: 24 },
      want: ['Pulling m · Do…', 'a1     100 %', 'a2      50 %', /^a3/, /^a4/, 'total   50 %'],
    },
    {
      name: 'short: the finished parts are one line',
      size: { columns: 44, rows: 6 },
      want: ['Pulling m · Downloading', '… 2 finished', /^a2/, /^a4/, /^total/],
    },
    {
      name: 'shorter: so are the newest',
      size: { columns: 44, rows: 5 },
      want: ['Pulling m · Downloading', '… 2 finished, 1 more under way', /^a2/, /^total/],
    },
    { name: 'three rows', size: { columns: 44, rows: 3 }, want: ['Pulling m · Downloading', /^total/] },
    { name: 'one row', size: { columns: 44, rows: 1 }, want: [/^total/] },
  ];
  for (const { name, size, want } of cases) {
    const lines = drawProgress(state, size, style);
    t.match(lines, want, name);
    t.equal(lines.length, want.length, name);
  }
  const finished = Array.from({ length: 5 }, (_, index) => part(`f${index}`, 1, 1));
  t.match(
    drawProgress({ ...state, parts: [...finished, part('a', 0, 1)] }, { columns: 44, rows: 7 }, style),
    [/^Pulling/, '… 3 finished', /^f3/, /^f4/, /^a /, /^total/],
    'no more of them are left out than must be',
  );
  t.match(
    drawProgress(
      { ...state, parts: [part('empty', 0, 0), part('over', 9, 5)] },
      { columns: 99, rows: 9 },
      style,
    ),
    [/^Pulling/, /^empty {2}█{40} {2}100 % /, /^over {3}█{40} {2}100 % /, /^total/],
    'no part is more than whole',
  );
  t.strictSame(
    drawProgress({ title: 'Creating m', message: 'Reading', parts: [] }, { columns: 80, rows: 24 }, style),
    ['Creating m · Reading'],
    'nothing can be counted yet',
  );
});

t.test('a figure is shown if it leaves eight columns for the bar', async (t) => {
  const row = { name: 'a', percentage: 50, completed: 500e6, total: 1e9, speed: 10e6 };
  const [share, speed] = ['0.5 of 1.0 GB', '10.0 MB/s'];
  const cases = [
    { width: 57, shows: ['50 %', share, speed, '50s'], bar: 8 },
    { width: 47, shows: ['50 %', share, speed], bar: 8 },
    { width: 35, shows: ['50 %', share], bar: 8 },
    { width: 34, shows: ['50 %'], bar: 24 },
    { width: 18, shows: ['50 %'], bar: 8 },
    { width: 17, shows: ['50 %'], bar: 0 },
  ];
  for (const { width, shows, bar } of cases) {
    const [line = ''] = drawBars([row], width, createStyle(false));
    const cells = line.split(/ {2,}/);
    t.strictSame(
      cells.filter((cell) => !/[█░]/.test(cell)),
      ['a', ...shows],
      `${width} columns`,
    );
    t.equal(line.match(/[█░]/g)?.length ?? 0, bar, `the bar of ${width} columns`);
    t.ok(columnsOf(line) <= width);
  }

  const left = (seconds: number) => ({ ...row, completed: 0, total: seconds, speed: 1 });
  const lasts = [
    { of: left(60), want: '1m 00s' },
    { of: left(3_599), want: '59m 59s' },
    { of: left(7_384), want: '2h 03m' },
    { of: left(360_000), want: 'long' },
  ];
  for (const { of, want } of lasts) {
    const [line = ''] = drawBars([of], 100, createStyle(false));
    t.equal(line.split(/ {2,}/).at(-1), want);
  }
  for (const still of [
    { ...row, percentage: 100 },
    { ...row, speed: 0 },
  ])
    t.notMatch(drawBars([still], 100, createStyle(false))[0], /MB\/s/, 'what stands still has no speed');
});

t.test('the speed of a download', async (t) => {
  const meter = new SpeedMeter();
  meter.note(0, 1e9);
  t.equal(meter.speed(100), undefined, 'what was there before counts for nothing');
  meter.note(1000, 1e9 + 1000);
  meter.note(2000, 1e9 + 4000);
  t.equal(meter.speed(2000), 2000);
  meter.note(6500, 1e9 + 13_000);
  t.equal(meter.speed(6500), 2000, 'of the last seconds');
  meter.note(7000, 10);
  t.equal(meter.speed(7000), undefined, 'it began anew');
  t.equal(meter.speed(12_000), 0, 'it stands still');
  t.equal(meter.speed(60_000), 0);
  const tracker = new ProgressTracker();
  const report = (parts: readonly PartProgress[], completed: number): WorkProgress => ({
    kind: 'report',
    message: '',
    completed,
    total: 1e10,
    parts,
  });
  const part = (name: string, completed: number) => ({ name, completed, total: 1e9 });
  tracker.take(report([part('a', 0)], 0), 0);
  tracker.take(report([part('a', 1000), part('b', 5e8)], 5e8 + 1000), 1000);
  t.equal(tracker.state(1000).speed, 1000, 'a part that goes on where it was left is not fast');
});

t.test('progress fits the screen, whatever the daemon reports', async () => {
  const bytes = fc.oneof(
    fc.nat(2000),
    fc.integer({ min: 0, max: 4e15 }),
    fc.constantFrom(99_950, 999_999, 9e8),
  );
  const part = fc.record({
    name: anyText(),
    completed: bytes,
    total: bytes,
    speed: bytes,
  });
  const state = fc.record(
    {
      title: fc.string(),
      message: anyText(),
      parts: fc.array(part, { maxLength: 12 }),
      percentage: fc.nat(100),
      completed: bytes,
      total: bytes,
      speed: bytes,
    },
    { requiredKeys: ['title', 'message', 'parts'] },
  );
  const size = fc.record({
    columns: fc.integer({ min: 1, max: 130 }),
    rows: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(state, size, (told, { columns, rows }) => {
      const lines = drawProgress(told, { columns, rows }, createStyle(false));
      return (
        lines.length <= Math.max(1, rows - 1) &&
        lines.every((line) => columnsOf(line) <= Math.max(1, columns - 1) && !/[\u0000-\u001f]/.test(line))
      );
    }),
    { numRuns: 2000 },
  );
});
