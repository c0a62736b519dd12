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

--- Asks for the next answer. What failed is no part of what was said; what was cut is, where something came.
---@param turn runner.Turn
---@param listener runner.Listener
function Conversation:send(turn, listener)
  count = count + 1
  self.stream_id = ('neovim-%d'):format(count)
  self.listener = listener
  local messages = vim.list_extend({}, self.messages)
  messages[#messages + 1] = message_of(turn)
  local params = { streamId = self.stream_id, model = turn.model, messages = messages }
  local is_over = false
  local request = connection.request('runner/chat', params, function(err, result)
    is_over = true
    self.request, self.listener = nil, nil
    if err then
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
  self.messages, self.listener = {}, nil
end

return Conversation
