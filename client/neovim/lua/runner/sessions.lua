--- The kept conversations and the actions on them.
local connection = require('runner.connection')
local controls = require('runner.controls')
local notice = require('runner.notice')
local picker = require('runner.picker')

local M = {}

--- The most conversations in the list.
local most = 200

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

--- The newest conversation of this folder, if there is one. Errors are not shown, because the user did not ask.
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
---@param take fun(result: { session: runner.Session, messages: runner.SessionMessage[] })
function M.read(id, is_opened, take)
  connection.ask('runner/sessions/read', { id = id, open = is_opened }, take)
end

--- Begins a copy of a conversation.
---@param id string
---@param turns? integer Its first ones; absent: all.
---@param take fun(copy: string) The id.
function M.fork(id, turns, take)
  connection.ask('runner/sessions/fork', { id = id, turns = turns }, function(result)
    take(result.session.id)
  end)
end

---@param session runner.Session
local function delete(session)
  picker.confirm_deletion(('Delete "%s" from the disk?'):format(title_of(session)), function()
    connection.ask('runner/sessions/delete', { id = session.id }, function()
      notice.say(('"%s" was deleted.'):format(title_of(session)))
    end)
  end)
end

---@param session runner.Session
---@return runner.Action[]
local function actions_of(session)
  local function action(title, run)
    return { title = title, run = run }
  end
  return {
    action('Open', function()
      require('runner.chat').resume(session.id)
    end),
    action('Open a copy', function()
      require('runner.chat').fork(session.id)
    end),
    action('Preview', function()
      -- Read-only beside the window, as a chat would show it.
      M.read(session.id, false, function(result)
        require('runner.chat').preview(session.title, result)
      end)
    end),
    action('Delete', function()
      delete(session)
    end),
  }
end

--- A wrapped row is hard to read, and the editor numbers the rows. Of a path that does not fit, the end says most.
---@param session runner.Session
---@return string
local function row_of(session)
  local room = math.max(40, vim.o.columns - 6)
  local text = M.describe(session)
  local folder = session.cwd and vim.fn.fnamemodify(session.cwd, ':~') or ''
  if vim.fn.strwidth(text) + 2 + vim.fn.strwidth(folder) > room then
    folder = vim.fn.pathshorten(folder)
  end
  local row = vim.trim(('%s  %s'):format(text, folder))
  return controls.fit(controls.line(row, room), room)
end

function M.pick()
  connection.ask('runner/sessions/list', { limit = most }, function(result)
    if #result.sessions == 0 then
      return notice.say('No conversation is kept yet.')
    end
    picker.pick(result.sessions, { prompt = 'Conversations', format_item = row_of }, function(session)
      picker.pick_action(title_of(session), actions_of(session))
    end)
  end)
end

return M
