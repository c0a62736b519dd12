import fc from 'fast-check';
import t from 'tap';
import { columnsOf } from '../../client/terminal/screen/columns.ts';
import { createStyle } from '../../client/terminal/screen/output.ts';
import { drawProgress, ProgressTracker, SpeedMeter } from '../../client/terminal/screen/progress.ts';
import type { PartProgress, WorkProgress } from '../../protocol/messages/messageTypes.ts';
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
      name: 'short: the finished parts are one line',
      size: { columns: 44, rows: 6 },
      want: ['Pulling m · Downloading', '… 2 finished', /^a2/, /^a4/, /^total/],
    },
    { name: 'three rows', size: { columns: 44, rows: 3 }, want: ['Pulling m · Downloading', /^total/] },
    { name: 'one row', size: { columns: 44, rows: 1 }, want: [/^total/] },
  ];
  for (const { name, size, want } of cases) {
    const lines = drawProgress(state, size, style);
    t.match(lines, want, name);
    t.equal(lines.length, want.length, name);
  }
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
    { numRuns: 300 },
  );
});
