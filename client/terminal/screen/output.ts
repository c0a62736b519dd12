import { Writable } from 'node:stream';
import { wrapText } from './wordWrap.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Standard output or standard error, with the style and the width of what it leads to. */
export class Output {
  readonly stream: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly style: Style;
  /** Whether text on it can be replaced: it is a screen that knows control sequences. */
  readonly isRedrawable: boolean;

  constructor(stream: Output['stream'], env: Environment) {
    this.stream = stream;
    this.isRedrawable = stream.isTTY === true && env['TERM'] !== 'dumb';
    // https://no-color.org
    this.style = createStyle(this.isRedrawable && !env['NO_COLOR']);
  }

  get isScreen(): boolean {
    return this.stream.isTTY === true;
  }

  /** A terminal that does not know its size reports 0. */
  get columns(): number {
    return this.stream.columns || 80;
  }

  get rows(): number {
    return this.stream.rows || 24;
  }

  /** The columns of a screen; elsewhere there is no limit. */
  get width(): number {
    return this.isScreen ? this.columns : Number.POSITIVE_INFINITY;
  }

  /** Writes, and waits until there is room for more. A reader that has gone (EPIPE) is not an error. */
  async write(text: string): Promise<void> {
    const { stream } = this;
    if (text === '' || stream.destroyed || stream.write(text)) return;
    const events = ['drain', 'close', 'error'];
    await new Promise<void>((resolve) => {
      const goOn = () => {
        for (const event of events) stream.off(event, goOn);
        resolve();
      };
      for (const event of events) stream.on(event, goOn);
    });
  }

  writeLine(text: string): Promise<void> {
    return this.write(`${text}\n`);
  }

  /** Sentences for a person, wrapped at words on a screen. */
  writeText(text: string): Promise<void> {
    return this.writeLine(this.isScreen ? wrapText(text, this.columns) : text);
  }

  /** Sentences that the user may skip. */
  writeAside(text: string): Promise<void> {
    return this.writeText(this.style.dim(text));
  }

  /** Sentences about what is wrong, while the work goes on. */
  writeWarning(text: string): Promise<void> {
    return this.writeText(this.style.yellow(text));
  }

  /** One value on a line of its own. */
  writeJson(value: unknown): Promise<void> {
    return this.writeLine(JSON.stringify(value));
  }
}

/** Puts text into a style of the terminal, or leaves it as it is if styles are off. */
export type Style = ReturnType<typeof createStyle>;

export function createStyle(on: boolean) {
  const wrap =
    (start: number, end: number) =>
    (text: string): string =>
      on && text !== '' ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return {
    on,
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    yellow: wrap(33, 39),
    green: wrap(32, 39),
    cyan: wrap(36, 39),
  };
}

/** Passes on what readline draws, except while an answer is being written. */
export class MutedOutput extends Writable {
  /** True until the first prompt, and while an answer is being written. */
  isMuted = true;
  readonly #target: Output['stream'];
  readonly #resized = () => this.emit('resize');

  constructor(target: Output['stream']) {
    super();
    this.#target = target;
    target.on('resize', this.#resized);
  }

  get columns(): number {
    return this.#target.columns ?? 80;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.isMuted) this.#target.write(chunk);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#target.off('resize', this.#resized);
    done(error);
  }
}
