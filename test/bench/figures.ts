import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { DaemonProcess } from '../support/daemonProcess.ts';

export interface Figure {
  readonly name: string;
  /** As a person reads it, with its unit. */
  readonly shown: string;
  /** What it should be, or what it is compared with. */
  readonly goal?: string;
  /** The values that a plot draws side by side. */
  readonly plot?: Plot;
}

export interface Plot {
  readonly unit: string;
  /** Each value by what was measured. The floor or the peer stands first. */
  readonly bars: Readonly<Record<string, number>>;
}

/** What one benchmark measured, as `npm run performance` reads it. */
export interface Measured {
  readonly bench: string;
  /** Without the name of whoever owns the machine. */
  readonly machine: string;
  /** ISO 8601, the day alone. */
  readonly date: string;
  readonly sections: readonly { readonly title: string; readonly figures: readonly Figure[] }[];
}

export interface Figures {
  /** What the figures after it are about. */
  section(title: string): void;
  row(name: string, shown: string, details?: Pick<Figure, 'goal' | 'plot'>): void;
}

/** Prints the figures of a benchmark and, where RUNNER_FIGURES names a folder, keeps them there as JSON. */
export function createFigures(bench: string): Figures {
  const sections: { title: string; figures: Figure[] }[] = [];
  const folder = process.env['RUNNER_FIGURES'];
  return {
    section(title) {
      console.log(`\n${title}`);
      sections.push({ title, figures: [] });
    },
    row(name, shown, details = {}) {
      const { goal } = details;
      console.log(`  ${name.padEnd(36)} ${shown}${goal === undefined ? '' : `  [${goal}]`}`);
      sections.at(-1)?.figures.push({ name, shown, ...details });
      if (folder) keep(folder, { bench, machine: machine(), date: today(), sections });
    },
  };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** How long the work takes, in ms. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** In MB. */
export function residentOf(
  { child: { pid } }: Pick<DaemonProcess, 'child'>,
  key: 'VmRSS' | 'VmHWM' = 'VmRSS',
): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
}

/** The environment of a daemon whose heap can be asked for. */
export const reportsHeap = { NODE_OPTIONS: '--require ./test/support/heapReport.cjs' };

/** In MB, once what nobody holds was collected. */
export async function heapOf({ child, stderr }: DaemonProcess): Promise<number> {
  const seen = stderr().length;
  child.kill('SIGUSR2');
  const read = () => /^heap (\d+)$/m.exec(stderr().slice(seen))?.[1];
  while (read() === undefined) await new Promise((resolve) => child.stderr?.once('data', resolve));
  return Number(read()) / 1e6;
}

function keep(folder: string, measured: Measured): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${measured.bench}.json`), `${JSON.stringify(measured, undefined, 2)}\n`);
}

function machine(): string {
  const memory = Math.round(totalmem() / 1024 ** 3);
  const model = cpus()[0]?.model.trim() ?? arch();
  return `${availableParallelism()} cores of ${model}, ${memory} GB, Node ${process.versions.node} on ${process.platform}`;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
