--- The keys of a chat.
local approval = require('runner.approval')
local mentions = require('runner.chat.mentions')
local resume = require('runner.chat.resume')

local M = {}

local interrupts = vim.api.nvim_create_namespace('runner.chat.interrupts')

---@param bufnr integer
---@param chat runner.Chat
function M.map(bufnr, chat)
  local function map(modes, key, run, desc)
    vim.keymap.set(modes, key, run, { buffer = bufnr, desc = desc })
  end
  local function submit()
    chat:submit()
  end
  map('n', '<CR>', submit, 'Sends the prompt')
  map({ 'n', 'i' }, '<C-s>', submit, 'Sends the prompt')
  map({ 'n', 'i' }, '<C-c>', function()
    if not chat:cancel() then
      vim.cmd.stopinsert()
    end
  end, 'Cancels the answer')
  map('n', 'gm', function()
    chat:pick_model()
  end, 'Chooses the model')
  map('n', 'gl', function()
    resume.go_on_with_last(chat)
  end, 'Goes on with the last conversation of this folder')
  map('n', 'gR', function()
    chat:regenerate()
  end, 'Has the last prompt answered again')
  map('n', 'gF', function()
    chat:fork(vim.v.count)
  end, 'Goes on in a copy of the conversation, with a count in a copy of so many turns')
  map('i', '<Tab>', mentions.press_tab, 'Completes @files, #buffer and /names')
end

--- Whether <C-c> only leaves a command line, or a list other than the question of a chat.
---@return boolean
local function leaves_command_line()
  return vim.api.nvim_get_mode().mode:sub(1, 1) == 'c' and not approval.is_asking()
end

--- During other events the editor treats <C-c> as an interrupt, which no mapping sees.
---@param current fun(): runner.Chat? The one whose buffer is the current one.
function M.watch_interrupts(current)
  vim.on_key(function(_, typed)
    local chat = typed == '\3' and not leaves_command_line() and current()
    if chat then
      vim.schedule(function()
        chat:cancel()
      end)
    end
  end, interrupts)
end

function M.unwatch_interrupts()
  vim.on_key(nil, interrupts)
end

return M
