import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { methods } from '@agentclientprotocol/sdk';
import type { Test } from 'tap';
import { startAcpProcess } from '../support/acpProcess.ts';
import { startNeovim } from '../support/neovim.ts';
import { text as buffer, isFree } from '../support/neovimChat.ts';
import { writeFiles } from '../support/temporaryFolder.ts';
import { openScreen } from '../support/tmux.ts';
import { poll } from '../support/waiting.ts';
import { filesOf } from './project.ts';
import type { Task } from './tasks.ts';

/** One task, put to one model in one window. */
export interface TaskRun {
  readonly t: Test;
  readonly task: Task;
  /** The project. */
  readonly folder: string;
  /** The user's own files. */
  readonly home: string;
  /** Of the runner. */
  readonly url: string;
  /** In tokens. */
  readonly window: number;
  /** How often the model has ended an answer. */
  readonly answers: () => number;
}

/** What the person has in the end. */
export interface Ending {
  readonly answer: string;
  readonly isStopped: boolean;
  /** The files once the edits were taken back. */
  readonly undone?: ReadonlyMap<string, string>;
  /** The files before that, where nothing brings the edits back. */
  readonly done?: ReadonlyMap<string, string>;
}

/** One of the programs in which people use the agent. */
export type Door = (run: TaskRun) => Promise<Ending>;

const check = [process.execPath, '--test'];

/** Adds, at the first question about a file, what somebody else writes into it. */
function somebodyElse({ task: { meanwhile }, folder }: TaskRun): (question: string) => void {
  let isWritten = false;
  return (question) => {
    if (!meanwhile || isWritten || !question.includes(meanwhile.path)) return;
    isWritten = true;
    appendFileSync(join(folder, meanwhile.path), meanwhile.text);
  };
}

/** An editor that speaks ACP. Its denials have no reason, so the reason is the next prompt. */
export const acp: Door = async (run) => {
  const { t, task, folder, home, url, window } = run;
  const checks = { [folder]: { test: { command: check } } };
  await writeFiles(home, {
    'runner/config.json': JSON.stringify({ builtinTools: true, agentContext: window, checks }),
  });
  const write = somebodyElse(run);
  const { agent, text } = await startAcpProcess(t, {
    ...{ host: url, state: join(home, 'state'), config: home },
    decide({ toolCall, options }) {
      const question = `${toolCall.title} ${JSON.stringify(toolCall.locations)}`;
      write(question);
      const kind = task.denied && question.includes(task.denied.path) ? 'reject_once' : 'allow_once';
      const optionId = options.find((option) => option.kind === kind)?.optionId ?? '';
      return { outcome: 'selected', optionId };
    },
  });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
  const { mode = 'edit' } = task;
  await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode }).catch(() => undefined);
  const ask = (prompt: string) =>
    agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: prompt }] });
  let { stopReason } = await ask(task.prompt);
  if (text(sessionId).endsWith('Where, then?')) ({ stopReason } = await ask(task.denied?.reason ?? ''));
  const answer = text(sessionId);
  const isStopped = stopReason === 'max_turn_requests';
  if (!task.isUndone) return { answer, isStopped };
  await ask('/undo');
  const undone = filesOf(folder);
  await ask('/redo');
  return { answer, isStopped, undone };
};

/** A script that runs the program, with what may be called in its flags. */
export const script: Door = async ({ t, task, folder, home, url, window }) => {
  const { mode = 'edit' } = task;
  const allowed = mode === 'read' ? 'builtin' : 'builtin,builtin/run_check';
  const args = ['--json', '--mode', mode, '--allow', allowed, '--check', `test=${check.join(' ')}`];
  const child = spawn(process.execPath, [...agentOf(url, window), ...args, task.prompt], {
    ...{ cwd: folder, env: { ...environment(home) }, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  const [output, errors, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ]);
  t.equal(code === 1, task.isStopped ?? false, `exit code ${code}. ${errors}`);
  return { answer: output, isStopped: output.includes('"toolLoop"') };
};

/** A person at a terminal. */
export const person: Door = async (run) => {
  const { task, folder, home, url, window } = run;
  const write = somebodyElse(run);
  const args = ['--mode', 'ask', '--allow', 'builtin', '--check', `test=${check.join(' ')}`];
  const program = [process.execPath, ...agentOf(url, window), ...args];
  const screen = openScreen(['sh', '-c', 'cd "$0" && exec "$@"', folder, ...program], environment(home));
  try {
    await screen.until(atPrompt);
    screen.type(task.prompt);
    // Until it is shown, the line waits for a prompt.
    await screen.until({ test: (text) => text.includes(`› ${task.prompt.slice(0, 20)}`) });
    screen.press('Enter');
    for (let asked = 1; ; asked += 1) {
      const shown = await screen.until({
        test: (text) => questionsIn(text).length >= asked || atPrompt.test(text),
      });
      const question = questionsIn(shown)[asked - 1];
      if (question === undefined) break;
      write(question);
      const isDenied = task.denied && question.includes(task.denied.path);
      screen.type(isDenied ? `n ${task.denied?.reason}` : 'y');
      screen.press('Enter');
    }
    const answer = await screen.until(atPrompt);
    if (!task.isUndone) return { answer, isStopped: false };
    screen.type('/undo');
    screen.press('Enter');
    await screen.until(/\[p\]rompt only/);
    screen.type('y');
    screen.press('Enter');
    const undone = await poll(
      async () => filesOf(folder),
      (files) => isAsBefore(files, task),
    );
    await screen.until(atPrompt);
    screen.type('/redo');
    screen.press('Enter');
    await poll(
      async () => filesOf(folder),
      // A file is written beside its place first.
      (files) => !isAsBefore(files, task) && ![...files.keys()].some((path) => path.endsWith('.tmp')),
    );
    return { answer, isStopped: false, undone };
  } finally {
    screen.close();
  }
};

/** The last line waits for a prompt. */
const atPrompt = /›\s*$/;

/** The questions on a screen that have all of their words. */
function questionsIn(shown: string): readonly string[] {
  return Array.from(
    shown.matchAll(/^allow (\w+: [^?]*)\?[^?]*?\[s\](?:top|ession)/gm),
    ([, about = '']) => about,
  );
}

function isAsBefore(files: ReadonlyMap<string, string>, { files: before }: Task): boolean {
  return [...files].every(([path, text]) => before[path] === text);
}

/** A person in Neovim, whose answers are given to its own questions. */
export const neovim: Door = async (run) => {
  const { t, task, folder, url, window, answers } = run;
  const editor = await startNeovim({
    setup: {
      ...{ host: url, builtinTools: true, agentContext: window },
      checks: { [folder]: { test: { command: check } } },
    },
    before: `vim.cmd.cd(${JSON.stringify(folder)})\n${answering(run)}`,
  });
  t.teardown(editor.close);
  const { mode = 'edit' } = task;
  await editor.lua('vim.cmd.RunnerMode(...)', mode);
  await editor.lua('vim.cmd.RunnerChat(...)', task.prompt);
  await poll(async () => answers(), Boolean);
  await editor.until(isFree);
  const answer = await editor.lua<string>(buffer);
  const isStopped = answer.includes('the same calls again and again');
  if (!task.isUndone) return { answer, isStopped };
  const done = filesOf(folder);
  await editor.lua('vim.cmd.RunnerUndo()');
  const undone = await poll(
    async () => filesOf(folder),
    (files) => isAsBefore(files, task),
  );
  return { answer, isStopped, undone, done };
};

/** Lua: each question is answered as the task has it. */
function answering({ task: { denied, meanwhile }, folder }: TaskRun): string {
  const settings = JSON.stringify({ denied, meanwhile, folder });
  return `
    local task = vim.json.decode(${JSON.stringify(settings)})
    local function choose(items, options, done, wanted)
      for index, item in ipairs(items) do
        local row = options.format_item and options.format_item(item) or tostring(item)
        for _, word in ipairs(wanted) do
          if vim.startswith(row, word) then return done(item, index) end
        end
      end
      done(nil, nil)
    end
    vim.ui.select = function(items, options, done)
      local meanwhile = task.meanwhile
      if meanwhile and options.prompt:find(meanwhile.path, 1, true) then
        vim.fn.writefile({ vim.trim(meanwhile.text) }, task.folder .. '/' .. meanwhile.path, 'a')
        task.meanwhile = nil
      end
      local isDenied = task.denied and options.prompt:find(task.denied.path, 1, true)
      choose(items, options, done, isDenied and { 'No' } or { 'Once', 'Yes' })
    end
    vim.ui.input = function(options, done) done(task.denied and task.denied.reason or '') end`;
}

function agentOf(url: string, window: number): readonly string[] {
  return [resolve('dist', 'terminal.cjs'), 'agent', '--server', url, '--context', String(window)];
}

function environment(home: string): Readonly<Record<string, string>> {
  return {
    ...{ PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' },
    ...{ XDG_STATE_HOME: join(home, 'state'), XDG_CONFIG_HOME: home },
  };
}
