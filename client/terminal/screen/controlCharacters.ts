import { showControls } from '../../../protocol/base/controlCharacters.ts';

export { showLine } from '../../../protocol/base/controlCharacters.ts';

/**
 * Makes what a model wrote safe to show: control characters become visible, `\r\n` becomes `\n`. A carriage return at
 * the end of a piece waits for the next, so that the result does not depend on how the text was cut.
 */
export interface ControlFilter {
  write(text: string): string;
  end(): string;
}

export function createControlFilter(): ControlFilter {
  let held = '';
  return {
    write(text) {
      const whole = held + text;
      held = whole.endsWith('\r') ? '\r' : '';
      return showControls(held === '' ? whole : whole.slice(0, -1));
    },
    end() {
      const rest = showControls(held);
      held = '';
      return rest;
    },
  };
}
