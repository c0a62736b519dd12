import { createAnswerPrinter } from './answerPrinter.ts';
import { chooseModel } from './chooseModel.ts';
import type { CommandLine } from './commandLine.ts';
import type { Connection } from './connection.ts';
import { type Failure, failureOf } from './failure.ts';
import { readAll, type Surroundings, UsageError, write, writeLine } from './streams.ts';
import { createStyle } from './style.ts';
import { createTurns, type TakeDelta } from './turn.ts';

/** A prompt from standard input may be this large. */
const maxPrompt = 10 * 1024 * 1024;

/** The prompt from the command line and from standard input where that is no terminal: first the one, then the other. */
export async function readPrompt({ stdin }: Surroundings, { words }: CommandLine): Promise<string> {
  const typed = words.join(' ').trim();
  const piped = stdin.isTTY ? '' : (await readAll(stdin, maxPrompt)).trim();
  const prompt = [typed, piped].filter((part) => part !== '').join('\n\n');
  if (prompt !== '') return prompt;
  throw new UsageError('There is no prompt. Say it as an argument, or pipe it in: echo "why?" | runner chat');
}

/** One answer, for scripts and for a question on the command line. Returns the exit code. */
export async function giveOneAnswer(
  surroundings: Surroundings,
  commandLine: CommandLine,
  connection: Connection,
  prompt: string,
): Promise<number> {
  const abort = new AbortController();
  const stopListening = surroundings.onInterrupt(() => abort.abort());
  const output = commandLine.json ? jsonOutput(surroundings) : textOutput(surroundings);
  try {
    const model = await chooseModel(connection.daemon, commandLine.model);
    const ask = createTurns(connection.daemon);
    const result = await ask(
      { model, messages: [{ role: 'user', content: prompt }] },
      output.take,
      abort.signal,
    );
    await output.done({ ...result, model });
    return result.finishReason === 'cancelled' ? 130 : 0;
  } catch (error) {
    const failure = failureOf(error);
    await output.failed(failure);
    await writeLine(surroundings.stderr, failure.message);
    return 1;
  } finally {
    stopListening();
  }
}

interface Output {
  readonly take: TakeDelta;
  readonly done: (result: object) => Promise<void>;
  readonly failed: (failure: Failure) => Promise<void>;
}

/** One object a line. */
function jsonOutput({ stdout }: Surroundings): Output {
  const event = (name: string, rest: object) => writeLine(stdout, JSON.stringify({ event: name, ...rest }));
  return {
    take: ({ streamId: _, seq: __, kind, ...rest }) => event(kind, 'notice' in rest ? rest.notice : rest),
    done: (result) => event('done', result),
    failed: (failure) => event('error', failure),
  };
}

/** The answer alone on standard output: as it is for a pipe, rendered for a terminal. */
function textOutput(surroundings: Surroundings): Output {
  const { stdout, stderr } = surroundings;
  if (stdout.isTTY) return renderedOutput(surroundings);
  let isLineOpen = false;
  const endLine = async () => {
    if (isLineOpen) await write(stdout, '\n');
  };
  return {
    async take(delta) {
      if (delta.kind === 'notice') await writeLine(stderr, delta.notice.message);
      if (delta.kind === 'toolCall') await writeLine(stderr, `The model called ${delta.toolCall.name}.`);
      if (delta.kind !== 'text' || delta.text === '') return;
      isLineOpen = !delta.text.endsWith('\n');
      await write(stdout, delta.text);
    },
    done: endLine,
    failed: endLine,
  };
}

function renderedOutput({ stdout, env }: Surroundings): Output {
  const printer = createAnswerPrinter(createStyle(!env['NO_COLOR']), stdout.columns ?? 80);
  return {
    take: (delta) => write(stdout, printer.delta(delta)),
    done: () => write(stdout, printer.end()),
    failed: () => write(stdout, printer.end()),
  };
}
