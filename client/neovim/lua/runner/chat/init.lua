--- `:RunnerChat`: the chats of this editor, each in a buffer of its own.
local Chat = require('runner.chat.chat')
local Page = require('runner.chat.page')
local keys = require('runner.chat.keys')
local model = require('runner.chat.model')
local pane = require('runner.pane')
local replay = require('runner.chat.replay')
local resume = require('runner.chat.resume')
local sessions = require('runner.sessions')
local window = require('runner.chat.window')

local M = {}

---@class runner.ChatOptions
---@field prompt? string Sent at once; empty is none.
---@field selection? runner.Context
---@field model? string
---@field is_fresh? boolean Another chat than those that there are.
---@field is_quiet? boolean Nothing is offered.

--- Buffers of this name are chats. The names of kept ones end with their id.
local name = 'runner://chat'

--- Chats by buffer.
---@type table<integer, runner.Chat>
local chats = {}
--- The chat that was used last.
---@type runner.Chat?
local latest

---@return runner.Chat?
local function current()
  return chats[vim.api.nvim_get_current_buf()]
end

---@param wanted string
---@return string? free
local function free_name(wanted)
  for number = 1, 100 do
    local candidate = number == 1 and wanted or ('%s/%d'):format(wanted, number)
    if vim.fn.bufexists(candidate) == 0 then
      return candidate
    end
  end
end

--- The editor keeps a buffer with the old name, which is not wanted.
---@param bufnr integer
---@param wanted string
local function rename(bufnr, wanted)
  local old = vim.api.nvim_buf_get_name(bufnr)
  local free = old ~= wanted and free_name(wanted)
  if not free then
    return
  end
  vim.api.nvim_buf_set_name(bufnr, free)
  local left = old ~= '' and vim.fn.bufnr(('^%s$'):format(old)) or -1
  if left ~= -1 and left ~= bufnr then
    vim.api.nvim_buf_delete(left, { force = true })
  end
end

---@param bufnr integer
local function become_text(bufnr)
  local options = vim.bo[bufnr]
  options.buftype, options.bufhidden, options.swapfile = 'nofile', 'hide', false
  -- Some packages of Neovim lack the parser that the Markdown file type needs.
  if vim.treesitter.language.add('markdown') then
    options.filetype = 'markdown'
    return
  end
  options.syntax = 'markdown'
  vim.api.nvim_buf_call(bufnr, function()
    -- Otherwise every underscore in a word would be shown as an error.
    vim.cmd('silent! syntax clear markdownError')
  end)
end

---@param chat runner.Chat
local function forget(chat)
  chat:close()
  chats[chat.bufnr] = nil
  latest = latest ~= chat and latest or nil
  if not next(chats) then
    keys.unwatch_interrupts()
  end
  -- Without its text and marks, the buffer only looks like a chat that can be continued.
  vim.schedule(function()
    if not chats[chat.bufnr] and vim.api.nvim_buf_is_valid(chat.bufnr) then
      vim.api.nvim_buf_delete(chat.bufnr, { force = true })
    end
  end)
end

---@param chat runner.Chat
local function watch(chat)
  local group = vim.api.nvim_create_augroup(('runner.chat.%d'):format(chat.bufnr), { clear = true })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = chat.bufnr, callback = callback })
  end
  on('BufWinEnter', function()
    window.dress(vim.api.nvim_get_current_win())
    chat.state:show()
  end)
  vim.api.nvim_create_autocmd('WinResized', {
    group = group,
    callback = function()
      chat.state:show()
    end,
  })
  on('BufEnter', function()
    latest = chat
  end)
  on('TextChanged', function()
    chat.page.prompt:mend()
  end)
  on('BufUnload', function()
    -- When the editor exits, the daemon keeps the running answer, so nothing is cancelled.
    if vim.v.exiting == vim.NIL then
      vim.api.nvim_del_augroup_by_id(group)
      forget(chat)
    end
  end)
end

--- Makes a buffer a chat.
---@param bufnr integer
---@return runner.Chat
local function adopt(bufnr)
  become_text(bufnr)
  local chat = Chat.create(bufnr, function(session)
    rename(bufnr, ('%s/%s'):format(name, session))
  end)
  chats[bufnr] = chat
  keys.map(bufnr, chat)
  keys.watch_interrupts(current)
  vim.bo[bufnr].omnifunc = "v:lua.require'runner.chat.mentions'.omnifunc"
  watch(chat)
  return chat
end

---@return runner.Chat
local function create()
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, free_name(name) or '')
  return adopt(bufnr)
end

--- The chat in the current window, else one of this tab, else the one that was used last.
---@return runner.Chat?
local function find()
  local here = current()
  if here then
    return here
  end
  for _, shown in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local chat = chats[vim.api.nvim_win_get_buf(shown)]
    if chat then
      return chat
    end
  end
  return latest
end

---@param chat runner.Chat
local function show(chat)
  local other = find()
  latest = chat
  chat.page.prompt:go_to(window.show(chat.bufnr, other and other ~= chat and other.bufnr or nil))
end

---@param options runner.ChatOptions
---@return runner.Chat
function M.open(options)
  local known = not options.is_fresh and find() or nil
  local chat = known or create()
  show(chat)
  if options.model then
    model.choose(options.model)
    chat:use(options.model)
  end
  if options.selection then
    chat:select(options.selection)
  end
  if (options.prompt or '') ~= '' then
    chat:say(options.prompt)
  else
    chat:prepare()
    if not known and not options.is_fresh and not options.is_quiet then
      resume.offer_last(chat)
    end
  end
  return chat
end

--- Resumes a kept conversation: in the chat that has it open, else in an unused chat, else in a new one.
---@param id string
function M.resume(id)
  for _, chat in pairs(chats) do
    if chat.conversation.session == id then
      return show(chat)
    end
  end
  local known = find()
  local is_free = known and known.conversation:is_new()
  resume.go_on(M.open({ is_quiet = true, is_fresh = not is_free }), id)
end

--- Goes on with a copy of a kept conversation, in a chat of its own.
---@param id string
---@param turns? integer Its first ones; absent: all.
function M.fork(id, turns)
  sessions.fork(id, turns, function(copy)
    resume.go_on(M.open({ is_quiet = true, is_fresh = true }), copy)
  end)
end

--- A buffer with the name of a chat, from an editor session or `:edit`, becomes a chat.
---@param bufnr integer
function M.restore(bufnr)
  if chats[bufnr] then
    return
  end
  local id = vim.api.nvim_buf_get_name(bufnr):match('^runner://chat/(%d%d%d%d%d%d%d%d%-%w+)')
  local chat = adopt(bufnr)
  for _, shown in ipairs(vim.fn.win_findbuf(bufnr)) do
    window.dress(shown)
  end
  if id then
    resume.go_on(chat, id)
  else
    chat:prepare()
  end
end

---@param title string
---@param result { session: runner.Session, messages: runner.SessionMessage[] }
function M.preview(title, result)
  local bufnr = vim.api.nvim_create_buf(false, true)
  become_text(bufnr)
  local page = Page.create(bufnr)
  replay.write(page, result.messages, result.session.model)
  page.prompt:leave_out()
  pane.open(bufnr, title, 0)
  window.dress(vim.api.nvim_get_current_win())
end

---@param stream_id string
---@return runner.Chat?
function M.of_stream(stream_id)
  return vim.iter(vim.tbl_values(chats)):find(function(chat)
    return chat.conversation.stream_id == stream_id
  end)
end

--- Cancels the answer of the current chat, else of any chat that answers.
---@return boolean whether an answer was under way
function M.cancel()
  local chat = find()
  if chat and chat:cancel() then
    return true
  end
  return vim.iter(vim.tbl_values(chats)):any(function(other)
    return other:cancel()
  end)
end

return M
