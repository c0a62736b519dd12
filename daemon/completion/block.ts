import type { AnswerContext } from './answerContext.ts';
import { isClosersOrBlank } from './syntax.ts';

/** Whether a line of an answer is kept, is kept as the last one, or is dropped together with everything after it. */
export type Verdict = 'keep' | 'last' | 'stop';

/** The width of a tab in a file that mixes tabs and blanks, in columns. */
const tabWidth = 4;
/** The longest run of lines whose repetition ends an answer. */
const longestRun = 3;

const opener = /[{([:]\s*$/;
const closer = /^\s*([)\]}]|(end|fi|done|esac)\b)/;
const nextBranch =
  /^[)\]}\s]*(else|elif|elsif|except|finally|catch|case|default|when|rescue|ensure|then|while|until)\b/;

/** Judges the lines of an answer one after another. The answer ends where the cursor's block ends. */
export function createBlockJudge(context: AnswerContext): (line: string) => Verdict {
  const { linePrefix, suffixLine, endsAtBlank } = context;
  const seen: string[] = [];
  let block: Block | undefined;

  const judge = (line: string, { base, isOpened }: Block): Verdict => {
    if (suffixLine !== '' && line === suffixLine) return 'stop';
    const indentation = indentationOf(line);
    // The closers of the block stay, and nothing comes after them.
    if (indentation < base) return isClosersOrBlank(line) || closer.test(line) ? 'last' : 'stop';
    if (isOpened && indentation === base) return verdictAfterBlock(line);
    return repeats(seen) ? 'stop' : 'keep';
  };

  return (text) => {
    const line = (block ? text : linePrefix + text).trimEnd();
    if (line === '' && block) return endsAtBlank && seen.length > 1 ? 'stop' : 'keep';
    if (line !== '') seen.push(line);
    if (block) return judge(line, block);
    block = blockOf(linePrefix, line);
    return 'keep';
  };
}

interface Block {
  /** The least indentation of its lines, in columns. */
  readonly base: number;
  /** Whether the block begins at the end of the cursor's line. */
  readonly isOpened: boolean;
}

/** `line` is the cursor's line with what the answer adds. The indentation may come from the answer. */
function blockOf(linePrefix: string, line: string): Block {
  const isIndentedByAnswer = linePrefix.trim() === '' && line !== '';
  return { base: indentationOf(isIndentedByAnswer ? line : linePrefix), isOpened: opener.test(line) };
}

/** The verdict for a line after the block that the cursor's line opened. */
function verdictAfterBlock(line: string): Verdict {
  if (nextBranch.test(line)) return 'keep';
  if (!closer.test(line)) return 'stop';
  return opener.test(line) ? 'keep' : 'last';
}

/** Whether the newest lines repeat the lines before them. Closers do not count, because they repeat in any code. */
function repeats(lines: readonly string[]): boolean {
  for (let run = 1; run <= longestRun; run += 1) {
    const newest = lines.slice(-run);
    const before = lines.slice(-2 * run, -run);
    if (before.length === run && newest.every((line, index) => line === before[index]))
      return !newest.every(isClosersOrBlank);
  }
  return false;
}

function indentationOf(line: string): number {
  const blanks = /^[ \t]*/.exec(line)?.[0] ?? '';
  return [...blanks].reduce((columns, blank) => columns + (blank === '\t' ? tabWidth : 1), 0);
}
