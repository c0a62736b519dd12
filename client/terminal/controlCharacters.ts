/** Everything that could drive a terminal or turn text around: C0 and C1 controls but line feed and tab, and bidi overrides. */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

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

/** Of what is a line by its nature, such as a name or a sentence: a line feed or a tab is a blank. */
export function showLine(text: string): string {
  return showControls(text).replace(/[\n\t]+/g, ' ');
}

function showControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, visible);
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
