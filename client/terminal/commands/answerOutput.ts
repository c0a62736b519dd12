import { showLine } from '../../../protocol/base/text.ts';
import type { ChatDelta, ChatResult } from '../../../protocol/messages/chat.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import type { Terminal } from '../cli/terminal.ts';
import { type AnswerStats, describeUsage, describeWork } from '../conversation/answerStats.ts';
import { forTerminal } from '../daemon/advice.ts';
import { createAnswerPrinter, createControlFilter } from '../screen/answerPrinter.ts';
import type { Output } from '../screen/output.ts';
import { createCallLines, describeDiff } from '../screen/tools.ts';

/** Where the one answer of a command goes. If the turn fails, what has come stays. */
export function createAnswerOutput(terminal: Terminal, { json, raw }: Pick<CommandLine, 'json' | 'raw'>) {
  if (json) return jsonOutput(terminal);
  return terminal.stdout.isScreen ? renderedOutput(terminal) : pipedOutput(terminal, raw);
}

/** One object a line. */
function jsonOutput({ stdout }: Terminal) {
  return {
    take: ({ streamId: _, seq: __, kind, ...rest }: ChatDelta) =>
      stdout.writeJson({ event: kind, ...('notice' in rest ? rest.notice : rest) }),
    done: ({ agent, ...result }: ChatResult, model: string, stats: AnswerStats) => {
      const stopped = stoppedBy(result) ? { stopped: result.finishReason } : {};
      return stdout.writeJson({ event: 'done', ...result, model, stats, ...agent, ...stopped });
    },
    failed: async () => undefined,
  };
}

/**
 * For a pipe: the text of the answer, and an end to its last line. A pipe often leads to a terminal in the end, so
 * control characters are made visible here too, unless `--raw` asks for them.
 */
function pipedOutput({ stdout, stderr }: Terminal, raw: boolean) {
  const filter = raw ? passOn : createControlFilter();
  const callLines = createCallLines();
  let isLineOpen = false;
  const show = async (text: string) => {
    if (text === '') return;
    isLineOpen = !text.endsWith('\n');
    await stdout.write(text);
  };
  const endLine = async () => {
    await show(filter.end());
    if (isLineOpen) await stdout.write('\n');
    isLineOpen = false;
  };
  return {
    async take(delta: ChatDelta): Promise<void> {
      if (isRemark(delta)) return showRemark(stderr, delta, callLines);
      if (delta.kind === 'text') await show(filter.write(delta.text));
    },
    async done(result: ChatResult): Promise<void> {
      await endLine();
      await reportCut(stderr, result);
    },
    failed: endLine,
  };
}

const passOn = { write: (text: string) => text, end: () => '' };

/** For a person: the rendered answer. The thinking is shown beside it if standard error is a screen too. */
function renderedOutput({ stdout, stderr }: Terminal) {
  const answer = createAnswerPrinter(stdout.style, stdout.columns);
  const thinking = createAnswerPrinter(stderr.style, stdout.columns);
  const callLines = createCallLines();
  let isThinking = false;
  const endThinking = async () => {
    if (isThinking) await stderr.writeLine(thinking.end());
    isThinking = false;
  };
  const end = async () => {
    await endThinking();
    await stdout.write(answer.end());
  };
  return {
    async take(delta: ChatDelta): Promise<void> {
      if (isRemark(delta)) {
        await end();
        await showRemark(stderr, delta, callLines);
      } else if (delta.kind === 'text') {
        await endThinking();
        await stdout.write(answer.delta(delta));
      } else if (stderr.isScreen) {
        isThinking = true;
        await stderr.write(thinking.delta(delta));
      }
    },
    async done(result: ChatResult, model: string, stats: AnswerStats): Promise<void> {
      await end();
      if (stderr.isScreen) await stderr.writeAside(describeUsage(showLine(model), result, stats));
      else await reportCut(stderr, result);
    },
    failed: end,
  };
}

type Remark = Extract<ChatDelta, { readonly kind: 'notice' | 'toolCall' | 'toolResult' }>;

function isRemark(delta: ChatDelta): delta is Remark {
  return delta.kind !== 'text' && delta.kind !== 'thinking';
}

/** Shows on standard error what is not part of the answer. */
async function showRemark(
  stderr: Output,
  remark: Remark,
  lines: ReturnType<typeof createCallLines>,
): Promise<void> {
  const { style } = stderr;
  if (remark.kind === 'toolResult') {
    const { diff } = remark.toolResult;
    const result = lines.result(remark.toolResult, stderr.columns).map(style.dim);
    // Nobody was asked, so nobody has seen it.
    return stderr.writeLine([...result, ...(diff ? [describeDiff(diff, stderr).text] : [])].join('\n'));
  }
  if (remark.kind === 'notice') return stderr.writeText(style.yellow(showLine(forTerminal(remark.notice))));
  await stderr.writeLine(style.yellow(lines.call(remark.toolCall)));
}

/** The work may be half done. */
export function stoppedBy({ finishReason }: Pick<ChatResult, 'finishReason'>): boolean {
  return finishReason === 'length' || finishReason === 'toolLimit' || finishReason === 'toolLoop';
}

async function reportCut(stderr: Output, { finishReason, agent }: ChatResult): Promise<void> {
  const did = agent && describeWork(agent);
  if (did) await stderr.writeText(did);
  if (finishReason === 'length')
    await stderr.writeLine('The answer was cut: it reached its limit of tokens.');
  if (finishReason === 'toolLoop')
    await stderr.writeText(
      'The model made the same calls again and again and had to answer without tools, so the work may be half done.',
    );
  if (finishReason === 'toolLimit')
    await stderr.writeText(
      'The rounds of tools are used up, so the work may be half done. Allow more with "--rounds N", up to 200.',
    );
}
