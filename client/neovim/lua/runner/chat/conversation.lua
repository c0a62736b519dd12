--- The messages so far, and the running answer, if there is one.
local connection = require('runner.connection')
local incoming = require('runner.incoming')

---@class runner.Turn
---@field prompt string As it is sent.
---@field typed? string As it was typed, if it is sent for the first time.
---@field attachments? runner.Attachment[]
---@field images? string[] Base64.
---@field model string
---@field tool_servers 'all'|string[]
---@field mode? runner.Mode Of the built-in tools; absent: ask.
---@field is_again? boolean The last prompt is answered anew, and the answer that it had is left out.

--- Events of an answer. One of the last two ends it.
---@class runner.Listener
---@field thinking fun(text: string)
---@field text fun(text: string)
---@field call fun(call: runner.ToolCall)
---@field result fun(result: runner.ToolResult)
---@field progress fun(progress: runner.ToolProgress)
---@field notice fun(notice: { code: string, message: string })
---@field failed fun(err: runner.Error)
---@field done fun(result: runner.ChatResult)

---@class runner.Conversation
---@field stream_id string? Of the answer that is under way.
---@field session string? Its id, where it is kept; it is created with the first prompt.
---@field private messages runner.Message[]
---@field private settings runner.ConversationSettings What it was kept with.
---@field private on_session fun(session: string) It is kept, under this id.
---@field private is_not_kept boolean?
---@field private request runner.Request?
local Conversation = {}
Conversation.__index = Conversation

local count = 0
--- Handlers of the running answers, by stream.
---@type table<string, runner.Listener>
local listeners = {}

local handlers = {
  text = function(listener, delta)
    listener.text(delta.text)
  end,
  thinking = function(listener, delta)
    listener.thinking(delta.text)
  end,
  toolCall = function(listener, delta)
    listener.call(delta.toolCall)
  end,
  toolResult = function(listener, delta)
    listener.result(delta.toolResult)
  end,
  notice = function(listener, delta)
    listener.notice(delta.notice)
  end,
}

incoming.on('runner/chat/delta', function(delta)
  local listener, handle = listeners[delta.streamId], handlers[delta.kind]
  if listener and handle then
    handle(listener, delta)
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
  return setmetatable({ messages = {}, settings = {}, on_session = on_session }, Conversation)
end

---@return boolean
function Conversation:is_answering()
  return self.request ~= nil
end

---@return runner.Message? prompt
---@return integer index
function Conversation:last_prompt()
  for index = #self.messages, 1, -1 do
    if self.messages[index].role == 'user' then
      return self.messages[index], index
    end
  end
  return nil, 0
end

--- Which turn was the last, for requests about its edits.
---@return { session: string, prompt: integer }?
function Conversation:edits_params()
  local prompts = vim.tbl_filter(function(message)
    return message.role == 'user'
  end, self.messages)
  return self.session and prompts[1] and { session = self.session, prompt = #prompts } or nil
end

--- The editor reads an object whose values are all null as an empty list, which no daemon accepts as arguments.
---@param messages runner.Message[]
---@return runner.Message[]
local function mended(messages)
  for _, message in ipairs(messages) do
    for _, call in ipairs(message.toolCalls or {}) do
      if next(call.arguments) == nil then
        call.arguments = vim.empty_dict()
      end
    end
  end
  return messages
end

---@param result runner.ChatResult
---@return runner.Message[]
local function added_by(result)
  if result.messages then
    return mended(result.messages)
  end
  local content = result.message.content
  return content ~= '' and { { role = 'assistant', content = content } } or {}
end

--- All messages to send, with the prompt at the end.
---@private
---@param turn runner.Turn
---@return runner.Message[]
function Conversation:messages_for(turn)
  local prompt, index = self:last_prompt()
  if turn.is_again and prompt then
    return vim.list_slice(self.messages, 1, index)
  end
  local messages = vim.list_slice(self.messages)
  local attachments = turn.attachments and turn.attachments[1] and turn.attachments or nil
  messages[#messages + 1] = { role = 'user', content = turn.prompt, attachments = attachments, images = turn.images }
  return messages
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
  local messages = self:messages_for(turn)
  local params = {
    streamId = stream_id,
    model = turn.model,
    messages = messages,
    hostedTools = turn.tool_servers,
    session = self.session,
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
      -- It was deleted meanwhile: the next prompt begins another one with all messages.
      if err.data and err.data.path == 'session' then
        self.session = nil
      end
      return listener.failed(err)
    end
    local added = added_by(result)
    if #added > 0 then
      self.messages = vim.list_extend(messages, added)
    end
    listener.done(result)
  end)
  if not is_over then
    self.request = request
  end
end

--- A conversation that cannot be kept continues, with one warning.
---@private
---@param continue fun()
---@param cancelled fun()
function Conversation:with_session(continue, cancelled)
  if self.session or self.is_not_kept then
    return continue()
  end
  local is_over = false
  local request = connection.request('runner/sessions/create', { cwd = vim.uv.cwd() }, function(err, result)
    is_over = true
    self.request = nil
    if err and err.code == -32800 then
      return cancelled()
    end
    if err and err.data and err.data.kind == 'not-supported' then
      require('runner.notice').warn('This conversation is not kept. ' .. err.message)
    end
    self.is_not_kept = err ~= nil
    if result then
      self.session = result.session.id
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
---@param id string
---@param messages runner.SessionMessage[]
---@param settings? runner.ConversationSettings
function Conversation:resume(id, messages, settings)
  self:forget()
  self.session, self.messages, self.settings = id, mended(messages), settings or {}
  self.on_session(id)
end

---@return boolean whether nothing was said yet, nor asked
function Conversation:is_new()
  return #self.messages == 0 and not self.session and not self:is_answering()
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
  self.messages, self.settings, self.session, self.is_not_kept = {}, {}, nil, nil
end

return Conversation
