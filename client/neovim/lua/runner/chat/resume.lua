--- Resumes a kept conversation in a chat.
local model = require('runner.chat.model')
local notice = require('runner.notice')
local replay = require('runner.chat.replay')
local sessions = require('runner.sessions')

local M = {}

---@param chat runner.Chat
---@return boolean
local function has_begun(chat)
  if not chat.conversation:is_new() then
    notice.warn('This chat has begun; :RunnerSessions opens others.')
    return true
  end
  return false
end

--- Shows a kept conversation, and resumes it.
---@param chat runner.Chat
---@param id string
function M.go_on(chat, id)
  sessions.read(id, true, function(result)
    -- The user may have sent a prompt meanwhile.
    if not chat.page:is_there() or has_begun(chat) then
      return
    end
    chat.conversation:resume(result)
    chat.servers:restore(result.settings)
    chat.page:clear()
    replay.write(chat.page, result.messages, result.session.model)
    -- What a conversation was allowed once, nobody has allowed today.
    local mode = require('runner.agent').is_on() and 'ask' or nil
    chat.state:set('mode', mode)
    if mode then
      chat.page:add_remark('*It begins in the mode ask; :RunnerMode changes that.*')
    end
    for _, window in ipairs(vim.fn.win_findbuf(chat.bufnr)) do
      chat.page.prompt:go_to(window)
    end
    model.if_installed(result.session.model, function(name)
      chat:use(name)
    end)
  end)
end

---@param chat runner.Chat
function M.go_on_with_last(chat)
  if has_begun(chat) then
    return
  elseif chat.last then
    M.go_on(chat, chat.last)
  else
    notice.say('No conversation was offered here. :RunnerSessions lists those that are kept.')
  end
end

--- If this folder has a last conversation, shows how to resume it.
---@param chat runner.Chat
function M.offer_last(chat)
  sessions.last_here(function(session)
    if chat.page:is_there() and chat.conversation:is_new() and chat.page.prompt:draft() == '' then
      chat.last = session.id
      chat.page:add_remark(('*Last here: %s. `gl` goes on with it.*'):format(sessions.describe(session)))
    end
  end)
end

return M
