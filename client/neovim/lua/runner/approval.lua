--- Approval of tool calls. The daemon asks, and the user answers one question after another: in the chat of the call and
--- in normal mode, so that a key that was meant for something else cannot answer.
local calls = require('runner.chat.calls')
local changes = require('runner.changes')
local controls = require('runner.controls')
local notice = require('runner.notice')
local picker = require('runner.picker')

local M = {}

---@class runner.PendingQuestion
---@field question runner.ApproveToolParams
---@field answer fun(result: runner.ApproveToolResult)
---@field close? fun() Closes what is shown with the question.

--- No comes first, so that Enter in a picker that selects the first row allows nothing.
local choices = {
  { title = 'No', decision = 'deny' },
  { title = 'Once', decision = 'once' },
  { title = 'All edits of this answer', decision = 'answer' },
  { title = 'For this session', decision = 'session' },
  { title = 'Always', decision = 'always' },
  { title = 'No, and stop', decision = 'stop' },
}

local usual = { 'deny', 'once', 'session', 'always' }

--- In ms between two checks whether the user can be asked.
local period = 100

---@type runner.PendingQuestion[]
local waiting = {}
--- The question on the screen.
---@type runner.PendingQuestion?
local asked
local is_watching = false

---@type fun()
local go_on

--- The server's own annotations of its tool, which decide nothing.
---@param question runner.ApproveToolParams
---@return string
local function claim_of(question)
  local annotations = question.annotations or {}
  if annotations.readOnlyHint == true then
    return ' It says that it only reads.'
  end
  return annotations.destructiveHint == true and ' It says that it may destroy something.' or ''
end

---@param question runner.ApproveToolParams
---@return string
local function prompt_of(question)
  if question.diff then
    local tool, name = controls.line(question.toolCall.name, 64), controls.line(question.diff.name, 200)
    return ('May %s change %s?'):format(tool, name)
  end
  if question.command then
    local name = controls.line(question.toolCall.name, 64)
    return ('May %s run %s?'):format(name, controls.line(table.concat(question.command, ' '), 1000))
  end
  local server, call = controls.line(question.server, 64), calls.line(question.toolCall)
  return ('May %s run %s?%s'):format(server, call, claim_of(question))
end

---@param question { streamId: string }
---@return runner.Chat?
function M.chat_of(question)
  return require('runner.chat').of_stream(question.streamId)
end

---@param chat runner.Chat
---@return boolean
local function is_free(chat)
  return picker.may_open() and vim.api.nvim_get_current_buf() == chat.bufnr
end

---@param question runner.ApproveToolParams
---@return { title: string, decision: string }[]
local function choices_of(question)
  return vim.tbl_filter(function(choice)
    return vim.list_contains(question.decisions or usual, choice.decision)
  end, choices)
end

--- Writing the file would lose what is not saved: the user learns why the answer is no.
---@param question runner.ApproveToolParams
---@return boolean
local function loses_changes(question)
  local diff = question.diff
  if not diff or not changes.unsaved_buffer(diff.path) then
    return false
  end
  notice.warn(('%s has unsaved changes, so it was not edited. Save it, and ask again.'):format(
    controls.line(diff.name, 200)
  ))
  return true
end

---@param pending runner.PendingQuestion
local function close(pending)
  if pending.close then
    pending.close()
    pending.close = nil
  end
end

---@param pending runner.PendingQuestion
---@param decision string
---@param reason? string
local function settle(pending, decision, reason)
  asked = nil
  close(pending)
  local chat = M.chat_of(pending.question)
  if chat then
    chat.state:set_question(nil, false)
  end
  pending.answer({ decision = decision, reason = reason })
  go_on()
end

--- Of a built-in tool, the model also reads why.
---@param pending runner.PendingQuestion
---@param decision 'deny'|'stop'
local function deny(pending, decision)
  if pending.question.server ~= 'builtin' then
    return settle(pending, decision)
  end
  vim.ui.input({ prompt = 'Why not, for the model (or nothing)? ' }, function(reason)
    if asked == pending then
      settle(pending, decision, reason and vim.trim(reason) ~= '' and reason or nil)
    end
  end)
end

---@param pending runner.PendingQuestion
local function ask(pending)
  asked = pending
  local question = pending.question
  if loses_changes(question) then
    return settle(pending, 'deny')
  end
  pending.close = question.diff and changes.show(question.diff)
  picker.select(choices_of(question), {
    prompt = prompt_of(question),
    kind = 'runner_approval',
    format_item = function(choice)
      return choice.title
    end,
  }, function(choice)
    -- If the answer was cancelled meanwhile, its questions are settled.
    if asked == pending then
      if choice and (choice.decision == 'deny' or choice.decision == 'stop') then
        return deny(pending, choice.decision)
      end
      local is_allowed = choice and not loses_changes(question)
      settle(pending, is_allowed and choice.decision or 'deny')
    end
  end)
end

local function watch()
  is_watching = true
  vim.defer_fn(function()
    is_watching = false
    go_on()
  end, period)
end

--- Takes questions out of those that wait.
---@param is_gone fun(question: runner.ApproveToolParams): boolean
---@return runner.PendingQuestion[]
local function take_out(is_gone)
  local gone, rest = {}, {}
  for _, pending in ipairs(waiting) do
    table.insert(is_gone(pending.question) and gone or rest, pending)
  end
  waiting = rest
  return gone
end

--- Drops the questions of deleted chats, where nobody can answer.
local function deny_gone()
  local gone = take_out(function(question)
    return M.chat_of(question) == nil
  end)
  for _, pending in ipairs(gone) do
    pending.answer({ decision = 'deny' })
  end
end

--- The first question of each chat, the oldest first.
---@return { pending: runner.PendingQuestion, chat: runner.Chat }[]
local function first_of_each()
  local seen, first = {}, {}
  for _, pending in ipairs(waiting) do
    local chat = M.chat_of(pending.question)
    if chat and not seen[chat] then
      seen[chat] = true
      table.insert(first, { pending = pending, chat = chat })
    end
  end
  return first
end

--- Shows that a question waits, with a notification if its chat is not visible.
---@param pending runner.PendingQuestion
---@param chat runner.Chat
local function announce(pending, chat)
  local tool = controls.line(pending.question.toolCall.name, 64)
  if chat.state:set_question(tool, false) and vim.api.nvim_get_current_buf() ~= chat.bufnr then
    notice.say(('the chat asks whether %s may run. Go there to answer.'):format(tool))
  end
end

--- Asks the questions that can be answered now: a question in a hidden chat does not hold up the others.
function go_on()
  if asked then
    return
  end
  deny_gone()
  local free
  for _, one in ipairs(first_of_each()) do
    if is_free(one.chat) then
      free = one
    else
      announce(one.pending, one.chat)
    end
  end
  if free then
    waiting = vim.tbl_filter(function(pending)
      return pending ~= free.pending
    end, waiting)
    free.chat.state:set_question(controls.line(free.pending.question.toolCall.name, 64), true)
    ask(free.pending)
  elseif waiting[1] and not is_watching then
    watch()
  end
end

---@param question runner.ApproveToolParams
---@param answer fun(result: runner.ApproveToolResult) Called once, not necessarily later.
function M.ask(question, answer)
  table.insert(waiting, { question = question, answer = answer })
  go_on()
end

--- Whether a question is on the screen.
---@return boolean
function M.is_asking()
  return asked ~= nil
end

--- Drops questions that need no answer.
---@param is_gone fun(question: runner.ApproveToolParams): boolean
local function drop(is_gone)
  local gone = take_out(is_gone)
  if asked and is_gone(asked.question) then
    table.insert(gone, asked)
    close(asked)
    asked = nil
  end
  for _, pending in ipairs(gone) do
    local chat = M.chat_of(pending.question)
    if chat then
      chat.state:set_question(nil, false)
    end
    pending.answer({ decision = 'deny' })
  end
  go_on()
end

--- Call when the chat has ended.
---@param stream_id string
function M.forget(stream_id)
  drop(function(question)
    return question.streamId == stream_id
  end)
end

--- Call when another mode counts in the chat: the daemon has answered the questions that it decides.
---@param stream_id string
---@param mode runner.AgentMode
function M.withdraw(stream_id, mode)
  drop(function(question)
    -- What is asked in every mode cannot be allowed for the whole answer.
    local is_usual = question.diff and vim.list_contains(question.decisions or {}, 'answer')
    local is_decided = mode == 'read' and (question.diff or question.command)
      or mode == 'auto' and (is_usual or question.server == 'builtin' and not question.diff)
      or mode == 'edit' and is_usual
    return question.streamId == stream_id and is_decided and true or false
  end)
end

return M
