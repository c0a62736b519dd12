--- One chat: a conversation, its page in a buffer, and its settings.
local Conversation = require('runner.chat.conversation')
local Page = require('runner.chat.page')
local ServerChoice = require('runner.chat.servers')
local State = require('runner.chat.state')
local approval = require('runner.approval')
local attachments = require('runner.chat.attachments')
local connection = require('runner.connection')
local listener = require('runner.chat.listener')
local mentions = require('runner.chat.mentions')
local model = require('runner.chat.model')
local named = require('runner.chat.named')
local notice = require('runner.notice')
local prompts = require('runner.chat.prompts')

---@class runner.Chat
---@field bufnr integer
---@field page runner.Page
---@field conversation runner.Conversation
---@field private selection runner.Context?
---@field state runner.ChatState
---@field last string? The conversation that was offered.
---@field private beginning table? The turn that a model is still looked up for.
---@field servers runner.ServerChoice
---@field private note string? What the model should know with the next prompt.
local Chat = {}
Chat.__index = Chat

---@param bufnr integer
---@param on_session fun(session: string) The conversation is kept, under this id.
---@return runner.Chat
function Chat.create(bufnr, on_session)
  return setmetatable({
    bufnr = bufnr,
    page = Page.create(bufnr),
    conversation = Conversation.create(on_session),
    state = State.create(bufnr),
    servers = ServerChoice.create(),
  }, Chat)
end

---@param chosen string
function Chat:use(chosen)
  self.state:set('model', chosen)
end

---@param mode runner.AgentMode
function Chat:use_mode(mode)
  self.state:set('mode', mode)
  local stream_id = self.conversation.stream_id
  if stream_id then
    connection.ask('runner/chat/setMode', { streamId = stream_id, mode = mode }, function()
      approval.withdraw(stream_id, mode)
    end)
  end
end

--- Shows what the user did to the files, and tells the model with the next prompt.
---@param text string
function Chat:note_for_model(text)
  self.note = self.note and ('%s %s'):format(self.note, text) or text
  self.page:add_remark(('*%s*'):format(text))
end

function Chat:pick_model()
  model.pick(function(chosen)
    self:use(chosen)
  end)
end

---@param selection runner.Context?
function Chat:select(selection)
  self.selection = selection
  self.page.prompt:show_context(selection and 'with ' .. selection.title)
end

---@private
---@param continue fun(name: string)
---@param failed? fun() Called after the user was notified.
function Chat:with_model(continue, failed)
  if self.state.model then
    return continue(self.state.model)
  end
  model.find(function(found)
    if self.page:is_there() then
      -- The user may have chosen another model meanwhile.
      self:use(self.state.model or found)
      continue(self.state.model)
    end
  end, function(message)
    if self.page:is_there() then
      self.page:add_remark(('**Error:** %s'):format(message))
      if failed then
        failed()
      end
    end
  end)
end

--- Like `with_model`, for a turn: the wait is visible and can be cancelled.
---@private
---@param continue fun(name: string)
function Chat:begin_turn(continue)
  local turn = {}
  self.beginning = turn
  self.state:set('phase', 'waiting')
  self:with_model(function(name)
    if self.beginning == turn then
      self.beginning = nil
      continue(name)
    end
  end, function()
    if self.beginning == turn then
      self:stop_beginning()
    end
  end)
end

---@private
---@return boolean whether a turn was about to begin
function Chat:stop_beginning()
  if not self.beginning then
    return false
  end
  self.beginning = nil
  self.state:set('phase', 'idle')
  return true
end

---@private
---@return boolean
function Chat:refuses_to_send()
  if self.conversation:is_answering() or self.beginning then
    notice.warn('An answer is under way; <C-c> or :RunnerCancel ends it.')
    return true
  end
  return false
end

---@private
---@param turn runner.Turn
---@param remark string?
function Chat:ask(turn, remark)
  self.page:begin_answer(turn.prompt, turn.model, remark)
  self.state:begin()
  self.conversation:send(turn, listener.create(self, turn))
  self.state:show()
  if self.conversation:is_answering() then
    model.watch_loading(turn.model, function()
      if self.conversation:is_answering() and self.state.phase == 'waiting' then
        self.state:set('phase', 'loading')
      end
    end)
  end
end

---@private
---@param typed string
---@param sent? fun()
function Chat:send(typed, sent)
  if self:refuses_to_send() then
    return
  end
  local contexts, problem = mentions.resolve(typed)
  if not contexts then
    return notice.complain(('Nothing was sent. %s'):format(problem))
  end
  prompts.find(typed, function(found)
    named.find(typed, function(along)
      if self.page:is_there() and not self:refuses_to_send() then
        vim.list_extend(contexts, along.contexts)
        self:send_found(found, { typed = typed, contexts = contexts, images = along.images, sent = sent })
      end
    end)
  end)
end

---@private
---@param found runner.FoundPrompt
---@param from { typed: string, contexts: runner.Context[], images: string[], sent?: fun() }
function Chat:send_found(found, from)
  self:begin_turn(function(name)
    local all = vim.list_extend({ self.selection }, from.contexts)
    local images = vim.list_extend(vim.list_slice(found.images or {}), from.images)
    local turn = {
      prompt = found.text,
      typed = from.typed,
      images = images[1] and images or nil,
      model = found.model or name,
      tool_servers = found.tools or self.servers:wanted(),
      selection = self.selection,
      attachments = attachments.of_contexts(all),
      mode = self.state.mode,
    }
    if self.note then
      table.insert(turn.attachments, { path = 'what the user did since', text = self.note })
      self.note = nil
    end
    self:select(nil)
    local title = attachments.title_of(all)
    local called = found.name and '/' .. found.name
    self:ask(turn, called and title and ('%s, %s'):format(called, title) or called or title)
    if from.sent then
      from.sent()
    end
  end)
end

--- Sends the prompt at the end of the buffer.
function Chat:submit()
  local draft = self.page.prompt:draft()
  if draft == '' then
    return notice.warn('There is nothing to send. Type below the last "## You".')
  end
  self:send(draft, function()
    self.page.prompt:cut_draft(draft)
  end)
end

--- Sends a command's prompt.
---@param prompt string
function Chat:say(prompt)
  if self.page.prompt:draft() ~= '' then
    return self:send(prompt)
  end
  -- It is in the buffer until it is sent, so that it cannot get lost.
  self.page.prompt:set_draft(prompt)
  self:submit()
end

--- Asks the last prompt again, without its present answer.
function Chat:regenerate()
  local prompt = self.conversation.last
  if not prompt then
    return notice.warn('There is no answer yet that could be given again.')
  elseif self:refuses_to_send() then
    return
  end
  self:begin_turn(function(name)
    local servers = self.servers:wanted()
    local mode = self.state.mode
    local turn = { prompt = prompt, model = name, tool_servers = servers, mode = mode, is_again = true }
    self:ask(turn, 'once more')
  end)
end

--- Goes on in a copy of the conversation, in a chat of its own.
---@param turns integer Its first ones; 0 means all.
function Chat:fork(turns)
  local session = self.conversation.session
  if not session or not self.conversation.last then
    return notice.warn('There is no conversation yet that could be copied.')
  end
  require('runner.chat').fork(session, turns > 0 and turns or nil)
end

--- The turn has ended.
---@param figures? string[]
function Chat:end_answer(figures)
  self.page:end_answer()
  self.state:finish(figures)
end

--- Puts a failed prompt back, so that one key sends it again, unless the user is typing another one.
---@param turn runner.Turn
---@param err runner.Error
function Chat:take_back(turn, err)
  if not turn.is_again and self.page.prompt:draft() == '' then
    self.page.prompt:set_draft(turn.typed)
    self:select(self.selection or turn.selection)
  end
  if vim.startswith(err.data and err.data.path or '', 'hostedTools') then
    connection.request('runner/tools/list', vim.empty_dict(), function(_, result)
      self.servers:know(result and result.servers or {})
    end)
  end
end

---@return boolean whether an answer was under way
function Chat:cancel()
  if self.conversation.stream_id then
    approval.forget(self.conversation.stream_id)
  end
  return self:stop_beginning() or self.conversation:cancel()
end

--- Finds the model early, so that the line above the chat shows it.
function Chat:prepare()
  self:with_model(function()
    self.state:show()
  end)
end

function Chat:close()
  self.conversation:forget()
  require('runner.chat.folds').clear(self.bufnr)
end

return Chat
