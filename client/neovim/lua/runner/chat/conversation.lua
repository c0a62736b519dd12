--- What was said so far, and the one answer that may be under way.
local connection = require('runner.connection')

---@class runner.Message
---@field role 'user'|'assistant'
---@field content string
---@field attachments? runner.Attachment[]

---@class runner.Turn
---@field prompt string
---@field selection? runner.Selection
---@field model string

--- What is told while an answer comes. One of the last two ends it.
---@class runner.Listener
---@field thinking fun(text: string)
---@field text fun(text: string)
---@field notice fun(message: string)
---@field failed fun(err: runner.Error)
---@field done fun(result: { finishReason: string, message: runner.Message })

---@class runner.Conversation
---@field private messages runner.Message[]
---@field private session string? Its id, where it is kept; it is created with the first prompt.
---@field private is_not_kept boolean?
---@field private request runner.Request?
---@field private stream_id string?
---@field private listener runner.Listener?
local Conversation = {}
Conversation.__index = Conversation

local count = 0

---@return runner.Conversation
function Conversation.create()
  local conversation = setmetatable({ messages = {} }, Conversation)
  connection.on('runner/chat/delta', function(delta)
    conversation:take(delta)
  end)
  return conversation
end

---@return boolean
function Conversation:is_answering()
  return self.request ~= nil
end

---@private
function Conversation:take(delta)
  if not self.listener or delta.streamId ~= self.stream_id then
    return
  end
  if delta.kind == 'notice' then
    self.listener.notice(delta.notice.message)
  elseif delta.kind == 'text' or delta.kind == 'thinking' then
    self.listener[delta.kind](delta.text)
  end
end

---@param turn runner.Turn
---@return runner.Message
local function message_of(turn)
  local attachments = turn.selection and { turn.selection.attachment }
  return { role = 'user', content = turn.prompt, attachments = attachments }
end

--- The next answer. What failed is no part of what was said; what was cut is, where something came.
---@private
---@param turn runner.Turn
---@param listener runner.Listener
function Conversation:ask(turn, listener)
  count = count + 1
  self.stream_id = ('neovim-%d'):format(count)
  self.listener = listener
  local messages = vim.list_extend({}, self.messages)
  messages[#messages + 1] = message_of(turn)
  local params = { streamId = self.stream_id, model = turn.model, messages = messages, session = self.session }
  local is_over = false
  local request = connection.request('runner/chat', params, function(err, result)
    is_over = true
    self.request, self.listener = nil, nil
    if err then
      -- It was deleted meanwhile: the next prompt begins another, with all that was said.
      if err.data and err.data.path == 'session' then
        self.session = nil
      end
      return listener.failed(err)
    end
    if result.message.content ~= '' then
      messages[#messages + 1] = { role = 'assistant', content = result.message.content }
      self.messages = messages
    end
    listener.done(result)
  end)
  if not is_over then
    self.request = request
  end
end

--- A conversation that cannot be kept goes on all the same; that is told once.
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
    self.session = result and result.session.id
    continue()
  end)
  if not is_over then
    self.request = request
  end
end

--- Asks for the next answer, which is appended to the conversation as it is kept.
---@param turn runner.Turn
---@param listener runner.Listener
function Conversation:send(turn, listener)
  self:with_session(function()
    self:ask(turn, listener)
  end, function()
    listener.done({ finishReason = 'cancelled', message = { role = 'assistant', content = '' } })
  end)
end

--- Goes on with one that is kept.
---@param id string
---@param messages runner.KeptMessage[]
function Conversation:resume(id, messages)
  self:forget()
  self.session, self.messages = id, messages
end

---@return boolean whether nothing was said yet
function Conversation:is_new()
  return #self.messages == 0 and not self.session
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
  self:cancel()
  self.messages, self.listener, self.session, self.is_not_kept = {}, nil, nil, nil
end

return Conversation
