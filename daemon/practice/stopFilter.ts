export interface StopFilter {
  /** The part of the text so far that may be shown. `stopped` means that a stop sequence came, which is never shown. */
  push(text: string): { readonly text: string; readonly stopped: boolean };
  /** The text that was held back because it might begin a stop sequence. */
  rest(): string;
}

/** Holds back text as long as its end may be the start of a stop sequence. */
export function createStopFilter(stop: readonly string[]): StopFilter {
  let held = '';
  return {
    push(text) {
      held += text;
      const cuts = stop.map((sequence) => held.indexOf(sequence)).filter((index) => index !== -1);
      if (cuts.length > 0) {
        const shown = held.slice(0, Math.min(...cuts));
        held = '';
        return { text: shown, stopped: true };
      }
      if (stop.some((sequence) => endsWithStartOf(held, sequence))) return { text: '', stopped: false };
      const shown = held;
      held = '';
      return { text: shown, stopped: false };
    },
    rest: () => held,
  };
}

function endsWithStartOf(text: string, sequence: string): boolean {
  for (let length = Math.min(text.length, sequence.length - 1); length > 0; length -= 1)
    if (text.endsWith(sequence.slice(0, length))) return true;
  return false;
}
