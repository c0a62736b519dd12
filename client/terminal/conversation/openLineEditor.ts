import { createInterface } from 'node:readline';
import { resumeAfterSuspend } from '../cli/signals.ts';
import type { Terminal } from '../cli/terminal.ts';
import { MutedOutput } from '../screen/mutedOutput.ts';
import { historySize } from './history.ts';
import { beginPasteMarks, endPasteMarks, LineEditor, type LineEditorOptions } from './lineEditor.ts';
import { type Key, LineKeys } from './lineKeys.ts';
import type { SlashCompletion } from './slashCompletion.ts';

/** After how many ms Tab gives up. Until it is answered, readline reads no key, not even Ctrl-C. */
const completionLimit = 1_000;

/** A line editor over Node's readline, which gets the keys that none of ours takes. */
export function openLineEditor(terminal: Terminal, options: LineEditorOptions = {}): LineEditor {
  const { history = [] } = options;
  const { stdin } = terminal;
  const stdout = terminal.stdout.stream;
  const output = new MutedOutput(stdout);
  const readline = createInterface({
    input: stdin,
    output,
    terminal: true,
    history,
    historySize,
    removeHistoryDuplicates: true,
    crlfDelay: Number.POSITIVE_INFINITY,
    completer: (line: string, answer: (error: null, result: [string[], string]) => void) => {
      inTime(editor.complete(line)).then((completion) => {
        answer(null, [[...(completion?.candidates ?? [])], completion?.completed ?? '']);
        if (completion === undefined) readline.write('\t');
      });
    },
  });
  const editor = new LineEditor(readline, output, { ...options, history, terminal });
  const keys = new LineKeys(editor);
  // Readline is the last that has begun to listen. It gets what is left of the keys.
  const listeners = stdin.listeners('keypress') as ((text: unknown, key: unknown) => void)[];
  const toReadline = listeners.at(-1);
  if (toReadline) stdin.off('keypress', toReadline);
  const onKeypress = (text: string | undefined, key: Key = {}) => {
    editor.key(key.name, key.ctrl === true && key.name === 'c');
    if (!keys.takes(text ?? '', key)) toReadline?.(text, key);
  };
  stdin.on('keypress', onKeypress);
  readline.on('history', (lines: string[]) => editor.noteHistory(lines));
  readline.on('line', (line) => editor.endLine(line));
  readline.on('SIGINT', () => {
    keys.endSearch();
    editor.controlC();
  });
  const endListening = resumeAfterSuspend(terminal, readline, {
    beforeSuspend: () => void stdout.write(endPasteMarks),
    afterResume: () => {
      stdout.write(beginPasteMarks);
      editor.showAgain();
    },
  });
  readline.on('close', () => {
    endListening();
    keys.endSearch();
    stdin.off('keypress', onKeypress);
    stdout.write(endPasteMarks);
    editor.closed();
    output.destroy();
  });
  stdout.write(beginPasteMarks);
  return editor;
}

/** Offers nothing if it takes too long. */
async function inTime(work: Promise<SlashCompletion | undefined>): Promise<SlashCompletion | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<SlashCompletion>((resolve) => {
    timer = setTimeout(resolve, completionLimit, { candidates: [], completed: '' });
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
