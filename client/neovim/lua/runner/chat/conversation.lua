--- A conversation, whose messages the daemon has, and the running answer, if there is one.
local connection = require('runner.connection')
local incoming = require('runner.incoming')

---@class runner.Turn
---@field prompt string As it is sent.
---@field typed? string As it was typed, if it is sent for the first time.
---@field attachments? runner.Attachment[]
---@field images? string[] Base64.
---@field model string
---@field tool_servers 'all'|string[]
---@field mode? runner.AgentMode Of the built-in tools; absent: ask.
---@field is_again? boolean The last prompt is answered anew, and the answer that it had is left out.

--- Events of an answer. One of the last two ends it.
---@class runner.Listener
---@field thinking fun(text: string)
---@field text fun(text: string)
---@field toolCall fun(call: runner.ToolCall)
---@field toolResult fun(result: runner.ToolResult)
---@field progress fun(progress: runner.ToolProgress)
---@field notice fun(notice: { code: string, message: string })
---@field failed fun(err: runner.Error)
---@field done fun(result: runner.ChatResult)

---@class runner.Conversation
---@field stream_id string? Of the answer that is under way.
---@field session string? Its id, where it is kept; it is created with the first prompt.
---@field last string? The last prompt.
---@field private turns integer
---@field private is_replaced boolean? What the last turn left, because it failed, makes room for the next one.
---@field private settings runner.ConversationSettings What it was kept with.
---@field private on_session fun(session: string) It is kept, under this id.
---@field private request runner.Request?
local Conversation = {}
Conversation.__index = Conversation

local count = 0
--- Handlers of the running answers, by stream.
---@type table<string, runner.Listener>
local listeners = {}

--- What of a delta its listener takes, by kind.
local parts =
  { text = 'text', thinking = 'text', toolCall = 'toolCall', toolResult = 'toolResult', notice = 'notice' }

incoming.on('runner/chat/delta', function(delta)
  local listener, part = listeners[delta.streamId], parts[delta.kind]
  if listener and part then
    listener[delta.kind](delta[part])
  end
end)

incoming.on('runner/tools/progress', function(progress)
  local listener = listeners[progress.streamId]
  if listener then
    listener.progress(progress)
  end
end)

---@param on_session fun(session: string)
---@return runner.Conversation
function Conversation.create(on_session)
  return setmetatable({ turns = 0, settings = {}, on_session = on_session }, Conversation)
end

---@return boolean
function Conversation:is_answering()
  return self.request ~= nil
end

--- Which turn was the last, for requests about its edits.
---@return { session: string, prompt: integer }?
function Conversation:edits_params()
  return self.session and self.turns > 0 and { session = self.session, prompt = self.turns } or nil
end

---@param message? runner.Message
---@return boolean
local function says_something(message)
  return message ~= nil and (message.content ~= '' or message.thinking ~= nil or message.toolCalls ~= nil)
end

--- The next answer. What failed is no part of what was said; what was cut is, where something came.
---@private
---@param turn runner.Turn
---@param listener runner.Listener
function Conversation:ask(turn, listener)
  count = count + 1
  local stream_id = ('neovim-%d'):format(count)
  self.stream_id = stream_id
  listeners[stream_id] = listener
  local replaces = turn.is_again or self.is_replaced
  local attachments = turn.attachments and turn.attachments[1] and turn.attachments or nil
  local message = { role = 'user', content = turn.prompt, attachments = attachments, images = turn.images }
  local params = {
    streamId = stream_id,
    model = turn.model,
    messages = turn.is_again and {} or { message },
    hostedTools = turn.tool_servers,
    session = self.session,
    history = self.session and 'kept' or nil,
    replacesLastTurn = replaces,
    think = self.settings.think,
    options = self.settings.options,
    maxRounds = self.settings.maxRounds,
    agent = turn.mode and { mode = turn.mode } or nil,
  }
  local is_over = false
  local request = connection.request('runner/chat', params, function(err, result)
    is_over = true
    listeners[stream_id] = nil
    -- It was abandoned meanwhile: the page and the messages belong to another conversation.
    if self.stream_id ~= stream_id then
      return
    end
    self.request, self.stream_id = nil, nil
    require('runner.approval').forget(stream_id)
    if err then
      -- It was deleted meanwhile: the next prompt begins another one.
      if err.data and err.data.path == 'session' then
        self:forget()
      elseif err.data and says_something(err.data.messages and err.data.messages[1] or err.data.partial) then
        self.is_replaced = true
      end
      return listener.failed(err)
    end
    local is_part = says_something(result.messages and result.messages[1] or result.message)
    if is_part and not (replaces and result.finishReason == 'cancelled') then
      self.turns = self.turns + (turn.is_again and 0 or 1)
      self.last, self.is_replaced = turn.prompt, nil
    end
    listener.done(result)
  end)
  if not is_over then
    self.request = request
  end
end

--- A conversation that cannot be kept continues in the daemon's memory, with one warning.
---@private
---@param continue fun()
---@param cancelled fun()
---@param kept? false
function Conversation:with_session(continue, cancelled, kept)
  if self.session then
    return continue()
  end
  local is_over = false
  local params = { cwd = vim.uv.cwd(), kept = kept }
  local request = connection.request('runner/sessions/create', params, function(err, result)
    is_over = true
    self.request = nil
    if err and err.code == -32800 then
      return cancelled()
    elseif err and kept == nil then
      if err.data and err.data.kind == 'not-supported' then
        require('runner.notice').warn('This conversation is not kept. ' .. err.message)
      end
      return self:with_session(continue, cancelled, false)
    end
    self.session = result and result.session.id
    if result and result.session.kept ~= false then
      self.on_session(self.session)
    end
    continue()
  end)
  if not is_over then
    self.request = request
  end
end

--- Asks for the next answer, which the daemon appends to the kept conversation.
---@param turn runner.Turn
---@param listener runner.Listener
function Conversation:send(turn, listener)
  self:with_session(function()
    self:ask(turn, listener)
  end, function()
    listener.done({ finishReason = 'cancelled', message = { role = 'assistant', content = '' } })
  end)
end

--- Resumes a kept conversation.
---@param result runner.ReadSessionResult
function Conversation:resume(result)
  self:forget()
  self.session, self.turns, self.settings = result.session.id, result.session.turns, result.settings or {}
  for _, message in ipairs(result.messages) do
    self.last = message.role == 'user' and message.content or self.last
  end
  self.on_session(self.session)
end

---@return boolean whether nothing was said yet, nor asked
function Conversation:is_new()
  return not self.session and not self:is_answering()
end

---@return boolean whether there was something to cancel
function Conversation:cancel()
  local request = self.request
  if request then
    request.cancel()
  end
  return request ~= nil
end

function Conversation:forget()
  local request, stream_id = self.request, self.stream_id
  self.request, self.stream_id = nil, nil
  if request then
    request.cancel()
  end
  if stream_id then
    listeners[stream_id] = nil
    require('runner.approval').forget(stream_id)
  end
  self.session, self.turns, self.settings, self.last, self.is_replaced = nil, 0, {}, nil, nil
end

return Conversation
