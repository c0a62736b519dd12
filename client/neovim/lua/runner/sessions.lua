--- The conversations that are kept, and what can be done with each.
local connection = require('runner.connection')
local notice = require('runner.notice')

local M = {}

---@class runner.Session
---@field id string
---@field title string
---@field cwd? string
---@field model? string
---@field updatedAt string
---@field turns integer

---@class runner.KeptMessage: runner.Message
---@field thinking? string
---@field model? string
---@field partial? 'cancelled'|'failed'

---@class runner.KeptTurn
---@field prompt string
---@field model? string
---@field answers runner.KeptMessage[]

--- As many as a list of this kind can be looked through.
local most = 200

---@param method string
---@param params table
---@param take fun(result: any)
local function ask(method, params, take)
  connection.request('runner/sessions/' .. method, params, function(err, result)
    if err then
      notice.complain(err.message)
    else
      take(result)
    end
  end)
end

---@param session runner.Session
---@return string
local function title_of(session)
  return session.title == '' and 'no title yet' or session.title
end

---@param session runner.Session
---@return string
function M.describe(session)
  local turns = session.turns == 1 and '1 turn' or ('%d turns'):format(session.turns)
  return ('"%s", %s, %s'):format(title_of(session), turns, session.updatedAt:sub(1, 10))
end

--- The newest of this folder, where there is one. Nobody asked for it, so that nothing is said where it fails.
---@param take fun(session: runner.Session)
function M.last_here(take)
  connection.request('runner/sessions/list', { cwd = vim.uv.cwd(), limit = 1 }, function(_, result)
    local session = result and result.sessions[1]
    if session and session.turns > 0 then
      take(session)
    end
  end)
end

---@param id string
---@param is_opened boolean It is to be gone on with.
---@param take fun(result: { session: runner.Session, messages: runner.KeptMessage[] })
function M.read(id, is_opened, take)
  ask('read', { id = id, open = is_opened }, take)
end

---@param messages runner.KeptMessage[]
---@return runner.KeptTurn[]
function M.turns_of(messages)
  local turns = {}
  for _, message in ipairs(messages) do
    local turn = turns[#turns]
    if message.role == 'user' then
      turns[#turns + 1] = { prompt = message.content, answers = {} }
    elseif turn and message.role == 'assistant' then
      turn.model = turn.model or message.model
      table.insert(turn.answers, message)
    end
  end
  return turns
end

---@param messages runner.KeptMessage[]
---@return string[]
local function lines_of(messages)
  local lines = {}
  for _, turn in ipairs(M.turns_of(messages)) do
    local texts = { '## You', turn.prompt, '## ' .. (turn.model or 'Answer') }
    for _, message in ipairs(turn.answers) do
      table.insert(texts, message.content)
    end
    vim.list_extend(lines, vim.split(table.concat(texts, '\n\n') .. '\n', '\n'))
  end
  return lines
end

---@param session runner.Session
local function preview(session)
  M.read(session.id, false, function(result)
    local bufnr = vim.api.nvim_create_buf(false, true)
    vim.bo[bufnr].bufhidden = 'wipe'
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines_of(result.messages))
    vim.bo[bufnr].modifiable = false
    vim.bo[bufnr][vim.treesitter.language.add('markdown') and 'filetype' or 'syntax'] = 'markdown'
    vim.api.nvim_open_win(bufnr, true, { split = 'below', win = 0 })
    vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, desc = 'Closes the preview' })
  end)
end

---@param session runner.Session
local function delete(session)
  local prompt = ('Delete "%s" from the disk?'):format(title_of(session))
  vim.ui.select({ 'Keep', 'Delete' }, { prompt = prompt }, function(choice)
    if choice == 'Delete' then
      ask('delete', { id = session.id }, function()
        notice.say(('"%s" was deleted.'):format(title_of(session)))
      end)
    end
  end)
end

---@param session runner.Session
local function pick_action(session)
  local actions = {
    {
      title = 'Open',
      run = function()
        require('runner.chat').resume(session.id)
      end,
    },
    {
      title = 'Preview',
      run = function()
        preview(session)
      end,
    },
    {
      title = 'Delete',
      run = function()
        delete(session)
      end,
    },
  }
  vim.ui.select(actions, {
    prompt = title_of(session),
    format_item = function(action)
      return action.title
    end,
  }, function(action)
    if action then
      action.run()
    end
  end)
end

---@param session runner.Session
---@return string
local function row_of(session)
  local folder = session.cwd and vim.fn.fnamemodify(session.cwd, ':~') or ''
  return vim.trim(('%s  %s'):format(M.describe(session), folder))
end

function M.pick()
  ask('list', { limit = most }, function(result)
    if #result.sessions == 0 then
      return notice.say('No conversation is kept yet.')
    end
    vim.ui.select(result.sessions, { prompt = 'Conversations', format_item = row_of }, function(session)
      if session then
        pick_action(session)
      end
    end)
  end)
end

return M
