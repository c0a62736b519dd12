import type { WorkProgress } from '../../../protocol/messages/progress.ts';
import { type Surroundings, writeLine } from '../cli/streams.ts';
import { showLine } from './controlCharacters.ts';
import { ProgressScreen } from './progressScreen.ts';

/** Where the progress of a piece of work goes. */
export interface ProgressOutput {
  /** It is not called again before it has settled. */
  readonly take: (value: WorkProgress) => Promise<void>;
  /** However the work ended. */
  readonly end: () => Promise<void>;
}

export function createProgressOutput(surroundings: Surroundings, json: boolean): ProgressOutput {
  const { stderr, env } = surroundings;
  if (json) return jsonOutput(surroundings);
  if (stderr.isTTY !== true || env['TERM'] === 'dumb') return lineOutput(surroundings);
  const screen = new ProgressScreen(surroundings);
  return { take: (value) => screen.take(value), end: () => screen.end() };
}

/** One object a line. */
function jsonOutput({ stdout }: Surroundings): ProgressOutput {
  return {
    async take(value) {
      if (value.kind !== 'report') return;
      const { kind: _, ...report } = value;
      await writeLine(stdout, JSON.stringify({ event: 'progress', ...report }));
    },
    end: async () => undefined,
  };
}

/** For a log: a line for each new thing that is done, and for each further tenth. */
function lineOutput({ stderr }: Surroundings): ProgressOutput {
  const told = new Set<string>();
  let tenth = 0;
  return {
    async take(value) {
      if (value.kind !== 'report') return;
      const { message, percentage } = value;
      const now = Math.floor((percentage ?? 0) / 10);
      const thing = withoutFigures(message);
      // Layers are downloaded side by side, and each is told of once.
      if (told.has(thing) && now <= tenth) return;
      told.add(thing);
      tenth = Math.max(tenth, now);
      await writeLine(stderr, showLine(message) + (percentage === undefined ? '' : ` (${percentage} %)`));
    },
    end: async () => undefined,
  };
}

/** Figures that count up do not make another message, such as in `Downloading 3e4cb1417446: 1.2 of 4.7 GB`. */
function withoutFigures(message: string): string {
  return message.replace(/:? *\d[\d.,]* *(?:of|\/) *\d[\d.,]* *\w*$/, '');
}
