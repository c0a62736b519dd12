--- Writes an answer into its chat as it arrives.
local advice = require('runner.advice')
local calls = require('runner.chat.calls')

local M = {}

--- The speed of an answer, and how full the context window is.
---@class runner.Figures
---@field private seconds number While text came; what a tool takes is not counted.
---@field private since integer? Nanoseconds.
local Figures = {}
Figures.__index = Figures

--- A speed over less time means nothing.
local least_seconds = 0.05

---@return runner.Figures
function Figures.create()
  return setmetatable({ seconds = 0 }, Figures)
end

--- Call when a piece arrives.
function Figures:begin()
  self.since = self.since or vim.uv.hrtime()
end

--- Call when a tool runs or the answer ends.
function Figures:pause()
  if self.since then
    self.seconds = self.seconds + (vim.uv.hrtime() - self.since) / 1e9
    self.since = nil
  end
end

---@param count integer
---@return string
local function with_commas(count)
  local digits = ('%d'):format(count):reverse():gsub('(%d%d%d)', '%1,'):reverse()
  return (digits:gsub('^,', ''))
end

---@param usage { promptTokens: integer, completionTokens: integer, contextLength?: integer }
---@return string?
local function window_of(usage)
  local used = usage.promptTokens + usage.completionTokens
  if used > 0 and usage.contextLength then
    local percentage = math.min(100, math.ceil(100 * used / usage.contextLength))
    return ('%d %% of %s tokens'):format(percentage, with_commas(usage.contextLength))
  end
end

---@param usage { promptTokens: integer, completionTokens: integer, contextLength?: integer }
---@return string[] texts The longest first: where there is little room, a shorter one is shown.
function Figures:texts(usage)
  self:pause()
  local speed = usage.completionTokens > 1
      and self.seconds >= least_seconds
      and ('%.0f tokens/s'):format(usage.completionTokens / self.seconds)
    or nil
  local window = window_of(usage)
  local both = speed and window and ('%s, %s'):format(speed, window) or nil
  return both and { both, window } or { window or speed }
end

--- What the chat adds below an answer that ended early, by finish reason.
local remarks = {
  cancelled = '*Cancelled.*',
  length = '*Cut: the answer has reached its greatest length.*',
  toolLimit = '*The rounds of calls were used up; this was answered without further tools.*',
  toolLoop = '*The model made the same calls again and again; this was answered without further tools.*',
}

---@param chat runner.Chat
---@param write fun(...)
---@return fun(...)
local function while_there(chat, write)
  return function(...)
    if chat.page:is_there() then
      write(...)
    end
  end
end

---@param chat runner.Chat
---@param turn runner.Turn
---@return runner.Listener
function M.create(chat, turn)
  local page, figures = chat.page, Figures.create()
  -- The text after the last call.
  local came = ''
  --- The names of the calls that have no result yet, by id.
  ---@type table<string, string>
  local running = {}
  local function begin()
    figures:begin()
    chat.state:set('phase', 'answers')
  end
  local listener = {}
  function listener.thinking(text)
    begin()
    page:add_thinking(text)
  end
  function listener.text(text)
    begin()
    page:add_text(text)
    -- After writing: text that an interrupt kept from being written is missing here too, and is added at the end.
    came = came .. text
  end
  function listener.toolCall(call)
    figures:pause()
    came = ''
    chat.state:set('phase', 'answers')
    running[call.id] = call.name
    chat.state:set('running', calls.progress(call.name))
    page:add_call(call)
  end
  function listener.toolResult(result)
    running[result.id] = nil
    local _, name = next(running)
    chat.state:set('running', name and calls.progress(name))
    page:add_result(result)
    if result.server == 'builtin' then
      chat.state:set('mode', chat.state.mode or 'ask')
    end
    if result.server == 'builtin' and not result.isError then
      -- A file that is open may have changed.
      vim.cmd('silent! checktime')
    end
  end
  function listener.progress(progress)
    local name = running[progress.id]
    if name then
      chat.state:set('running', calls.progress(name, progress))
    end
  end
  function listener.notice(notice)
    page:add_line(('*%s*'):format(advice.fit(notice)))
  end
  function listener.failed(err)
    page:add_line(('**Error:** %s'):format(err.message))
    if err.data and err.data.path == 'session' then
      page:add_line('*The next prompt begins a new conversation.*')
    end
    chat:end_answer()
    chat:take_back(turn, err)
  end
  function listener.done(result)
    local content = result.message.content
    -- The text of a message with calls stands above them, where it was written as it came.
    local is_above = next(result.message.toolCalls or {}) ~= nil
    if content ~= came and not is_above and not (content == '' and result.messages) then
      page:replace_answer(content)
    end
    if remarks[result.finishReason] then
      page:add_line(remarks[result.finishReason])
    end
    if turn.is_again and result.finishReason == 'cancelled' then
      page:add_line('*The chat goes on with the earlier answer.*')
    end
    chat:end_answer(result.usage and figures:texts(result.usage))
  end
  return vim.tbl_map(function(write)
    return while_there(chat, write)
  end, listener)
end

return M
