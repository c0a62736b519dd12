--- Writes an answer into its chat as it arrives.
local Figures = require('runner.chat.figures')
local advice = require('runner.advice')
local calls = require('runner.chat.calls')

local M = {}

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
    chat.state:set_phase('answers')
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
  function listener.call(call)
    figures:pause()
    came = ''
    chat.state:set_phase('answers')
    running[call.id] = call.name
    chat.state:set_running(calls.progress(call.name))
    page:add_call(call)
  end
  function listener.result(result)
    running[result.id] = nil
    local _, name = next(running)
    chat.state:set_running(name and calls.progress(name))
    page:add_result(result)
    if result.server == 'builtin' then
      chat.state:use_mode(chat.state.mode or 'ask')
    end
    if result.server == 'builtin' and not result.isError then
      -- A file that is open may have changed.
      vim.cmd('silent! checktime')
    end
  end
  function listener.progress(progress)
    local name = running[progress.id]
    if name then
      chat.state:set_running(calls.progress(name, progress))
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
