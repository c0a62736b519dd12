import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { historySize } from './history.ts';
import type { Surroundings } from './streams.ts';

/** What a person did at the prompt. */
export type Entry = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'leave' };

/** A prompt with history. While it is not asking, what is typed is kept for the next prompt, unseen. */
export interface LineEditor {
  /** The next prompt: a line, lines joined by a backslash at their end, or lines that were pasted together. */
  ask(prompt: string): Promise<Entry>;
  /** Called at Ctrl-C while nothing is asked. */
  onInterrupt(take: () => void): void;
  readonly history: readonly string[];
  close(): void;
}

/** Lines that arrive within this many ms of each other were pasted. */
const pasteWindow = 15;

export function createLineEditor({ stdin, stdout }: Surroundings, history: string[]): LineEditor {
  const output = new MutedOutput(stdout);
  const editor = createInterface({
    input: stdin,
    output,
    terminal: true,
    history,
    historySize,
    removeHistoryDuplicates: true,
  });
  const waiting: Entry[] = [];
  let lines: string[] = [];
  let answer: ((entry: Entry) => void) | undefined;
  let interrupt: () => void = () => undefined;
  let paste: NodeJS.Timeout | undefined;
  let known = history;

  const give = (entry: Entry) => {
    output.isMuted = true;
    if (answer) answer(entry);
    else waiting.push(entry);
    answer = undefined;
  };
  const giveLines = () => {
    paste = undefined;
    const text = lines.join('\n');
    if (text.endsWith('\\')) return;
    lines = [];
    give({ kind: 'text', text: text.replace(/\\\n/g, '\n') });
  };

  editor.on('history', (now: string[]) => {
    known = now;
  });
  editor.on('line', (line) => {
    lines.push(line);
    clearTimeout(paste);
    paste = setTimeout(giveLines, pasteWindow);
  });
  editor.on('SIGINT', () => {
    if (!answer) return interrupt();
    if (editor.line === '' && lines.length === 0) return give({ kind: 'leave' });
    lines = [];
    editor.write(null, { ctrl: true, name: 'e' });
    editor.write(null, { ctrl: true, name: 'u' });
  });
  editor.on('close', () => {
    clearTimeout(paste);
    give({ kind: 'leave' });
  });

  return {
    ask(prompt) {
      const next = waiting.shift();
      if (next) return Promise.resolve(next);
      output.isMuted = false;
      editor.setPrompt(prompt);
      editor.prompt(true);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    onInterrupt(take) {
      interrupt = take;
    },
    get history() {
      return known;
    },
    close: () => editor.close(),
  };
}

/** Passes on what the editor draws, except while an answer is being written. */
class MutedOutput extends Writable {
  isMuted = false;
  readonly #target: Surroundings['stdout'];

  constructor(target: Surroundings['stdout']) {
    super();
    this.#target = target;
    target.on('resize', () => this.emit('resize'));
  }

  get columns(): number {
    return this.#target.columns ?? 80;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.isMuted) this.#target.write(chunk);
    done();
  }
}
