import { mkdirSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';

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
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
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
