import type { ChatDelta, ChatResult } from '../../../protocol/messages/chat.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { type Surroundings, write, writeLine, writeText } from '../cli/streams.ts';
import { type AnswerStats, describeUsage } from '../conversation/answerStats.ts';
import { describeCall, describeResult } from '../conversation/toolLines.ts';
import type { TakeDelta } from '../conversation/turn.ts';
import { forTerminal } from '../daemon/advice.ts';
import { createAnswerPrinter } from './answerPrinter.ts';
import { type ControlFilter, createControlFilter, showLine } from './controlCharacters.ts';
import { styleFor } from './style.ts';

/** Where the one answer of a command goes. */
export interface AnswerOutput {
  readonly take: TakeDelta;
  readonly done: (result: ChatResult, model: string, stats: AnswerStats) => Promise<void>;
  /** It failed: what had come stays. */
  readonly failed: () => Promise<void>;
}

export function createAnswerOutput(
  surroundings: Surroundings,
  { json, raw }: Pick<CommandLine, 'json' | 'raw'>,
): AnswerOutput {
  if (json) return jsonOutput(surroundings);
  return surroundings.stdout.isTTY ? renderedOutput(surroundings) : pipedOutput(surroundings, raw);
}

/** One object a line. */
function jsonOutput({ stdout }: Surroundings): AnswerOutput {
  const event = (name: string, rest: object) => writeLine(stdout, JSON.stringify({ event: name, ...rest }));
  return {
    take: ({ streamId: _, seq: __, kind, ...rest }) => event(kind, 'notice' in rest ? rest.notice : rest),
    done: (result, model, stats) => event('done', { ...result, model, stats }),
    failed: async () => undefined,
  };
}

/**
 * For a pipe: the answer's text, and an end to its last line. What a pipe ends in is often a terminal after all, so
 * control characters are made visible here too, unless somebody wants them.
 */
function pipedOutput(surroundings: Surroundings, raw: boolean): AnswerOutput {
  const { stdout } = surroundings;
  const filter = raw ? passOn : createControlFilter();
  let isLineOpen = false;
  const show = async (text: string) => {
    if (text === '') return;
    isLineOpen = !text.endsWith('\n');
    await write(stdout, text);
  };
  const endLine = async () => {
    await show(filter.end());
    if (isLineOpen) await write(stdout, '\n');
    isLineOpen = false;
  };
  return {
    async take(delta) {
      if (isRemark(delta)) return tell(surroundings, delta);
      if (delta.kind === 'text') await show(filter.write(delta.text));
    },
    async done(result) {
      await endLine();
      await tellCut(surroundings, result);
    },
    failed: endLine,
  };
}

const passOn: ControlFilter = { write: (text) => text, end: () => '' };

/** For a person: the answer rendered; the thinking beside it, where standard error is on the screen too. */
function renderedOutput(surroundings: Surroundings): AnswerOutput {
  const { stdout, stderr, env, coloursFor } = surroundings;
  const columns = stdout.columns ?? 80;
  const answer = createAnswerPrinter(styleFor(stdout, env), columns, coloursFor);
  const thinking = createAnswerPrinter(styleFor(stderr, env), columns);
  let isThinking = false;
  const endThinking = async () => {
    if (isThinking) await write(stderr, `${thinking.end()}\n`);
    isThinking = false;
  };
  const end = async () => {
    await endThinking();
    await write(stdout, answer.end());
  };
  return {
    async take(delta) {
      if (isRemark(delta)) {
        await end();
        await tell(surroundings, delta);
      } else if (delta.kind === 'text') {
        await endThinking();
        await write(stdout, answer.delta(delta));
      } else if (stderr.isTTY) {
        isThinking = true;
        await write(stderr, thinking.delta(delta));
      }
    },
    async done(result, model, stats) {
      await end();
      if (stderr.isTTY)
        await writeText(stderr, styleFor(stderr, env).dim(describeUsage(showLine(model), result, stats)));
      else await tellCut(surroundings, result);
    },
    failed: end,
  };
}

type Remark = Extract<ChatDelta, { readonly kind: 'notice' | 'toolCall' | 'toolResult' }>;

function isRemark(delta: ChatDelta): delta is Remark {
  return delta.kind !== 'text' && delta.kind !== 'thinking';
}

/** What is no part of the answer, as a line on standard error. */
async function tell({ stderr, env }: Surroundings, remark: Remark): Promise<void> {
  if (remark.kind === 'toolResult') {
    const { dim } = styleFor(stderr, env);
    const lines = describeResult(remark.toolResult, stderr.columns ?? 80);
    return writeLine(stderr, lines.map(dim).join('\n'));
  }
  const { yellow } = styleFor(stderr, env);
  if (remark.kind === 'notice') return writeText(stderr, yellow(showLine(forTerminal(remark.notice))));
  await writeLine(stderr, yellow(describeCall(remark.toolCall)));
}

async function tellCut({ stderr }: Surroundings, { finishReason }: ChatResult): Promise<void> {
  if (finishReason === 'length')
    await writeLine(stderr, 'The answer was cut: it reached its limit of tokens.');
}
