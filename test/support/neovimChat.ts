import type { Test } from 'tap';
import { type Neovim, type NeovimOptions, startNeovim } from './neovim.ts';
import { type RunnerStandIn, type StandInOptions, startStandIn } from './runnerStandIn.ts';
import { toolServerPath } from './toolDaemon.ts';

/** A Neovim with a runner of its own. Both are ended with the test. */
export async function startWithRunner(
  t: Test,
  {
    runner: runnerOptions,
    setup = {},
    ...options
  }: NeovimOptions & { readonly runner?: StandInOptions } = {},
): Promise<{ readonly runner: RunnerStandIn; readonly neovim: Neovim }> {
  const runner = await startStandIn(runnerOptions);
  const neovim = await startNeovim({ ...options, setup: { host: runner.url, ...setup } });
  t.teardown(async () => {
    await neovim.close();
    await runner.close();
  });
  return { runner, neovim };
}

/** Tool servers of these kinds, each under its own name. */
export function toolServers(...kinds: readonly string[]) {
  return Object.fromEntries(
    kinds.map((kind) => [kind, { command: process.execPath, args: [toolServerPath, kind] }]),
  );
}

/** Lua: the text of the buffer that is shown. */
export const text = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";

/** Asks in the chat: what it shows once the runner has given the answer. */
export async function chat(
  { runner, neovim }: { readonly runner: RunnerStandIn; readonly neovim: Neovim },
  prompt: string,
  answer: string,
): Promise<string> {
  runner.say(answer);
  await neovim.lua('vim.cmd.RunnerChat(...)', prompt);
  return neovim.until<string>(text, (now) => now.includes(answer));
}

/** Lua: whether the chat takes a prompt. */
export const isFree = "return vim.wo.winbar:find('sends', 1, true) ~= nil";

/**
 * Lua for the start: whatever the user is let choose from is taken by `_G.choices`, the beginning of a row each, and is
 * left where there is none. What was asked and offered is in `_G.asked` and `_G.offered`.
 */
export const choosing = `
_G.choices, _G.asked, _G.offered = {}, {}, {}
vim.ui.select = function(items, options, done)
  local rows = vim.tbl_map(options.format_item or tostring, items)
  table.insert(_G.asked, options.prompt)
  table.insert(_G.offered, rows)
  local wanted = table.remove(_G.choices, 1)
  for index, item in ipairs(items) do
    if wanted and vim.startswith(rows[index], wanted) then return done(item, index) end
  end
  done(nil, nil)
end`;
