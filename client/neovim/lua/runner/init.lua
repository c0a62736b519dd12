local M = {}

local needed = 'nvim-0.12'
local has_said_too_old = false

--- Warns only once.
---@return boolean
local function is_new_enough()
  if vim.fn.has(needed) == 1 then
    return true
  end
  if not has_said_too_old then
    has_said_too_old = true
    vim.notify('Runner needs Neovim 0.12 or newer. Nothing of it was started.', vim.log.levels.ERROR)
  end
  return false
end

--- Without a call of `setup`, the first command sets the defaults.
---@return boolean
local function is_ready()
  if not is_new_enough() then
    return false
  end
  if not require('runner.options').current then
    M.setup()
  end
  return true
end

--- Attaches `runnerd` to Modelfiles and, while `completionModel` is set, to the files that are edited.
---@param options? runner.Options
function M.setup(options)
  if not is_new_enough() then
    return
  end
  require('runner.options').set(options or {})
  require('runner.highlights').setup()
  require('runner.status').listen()
  require('runner.attach').setup()
end

--- The runner's state in a few words for a statusline; empty until the daemon is started.
---@return string
function M.status()
  if vim.fn.has(needed) == 0 then
    return ''
  end
  return require('runner.status').text()
end

--- The arguments of the user command.
---@param arguments { args: string, bang: boolean, range: integer, line1: integer, line2: integer }
function M.chat(arguments)
  if not is_ready() then
    return
  end
  local chat = require('runner.chat')
  local selection = arguments.range > 0
      and require('runner.chat.attachments').of_lines(0, arguments.line1, arguments.line2)
    or nil
  chat.open({ prompt = arguments.args, selection = selection, is_fresh = arguments.bang })
end

--- The lines that a user command was given.
---@param arguments { range: integer, line1: integer, line2: integer }
---@return runner.Lines?
local function lines_of(arguments)
  return arguments.range > 0 and { first = arguments.line1 - 1, last = arguments.line2 } or nil
end

--- The arguments of the user command.
---@param arguments { args: string, range: integer, line1: integer, line2: integer }
function M.edit(arguments)
  if is_ready() then
    require('runner.edit').start(vim.trim(arguments.args), lines_of(arguments))
  end
end

--- The arguments of the user command.
---@param arguments { range: integer, line1: integer, line2: integer }
function M.accept_edit(arguments)
  if is_ready() then
    require('runner.edit').accept(lines_of(arguments))
  end
end

--- The arguments of the user command.
---@param arguments { range: integer, line1: integer, line2: integer }
function M.reject_edit(arguments)
  if is_ready() then
    require('runner.edit').reject(lines_of(arguments))
  end
end

--- Makes a buffer a chat that an editor session or `:edit` has created by its name.
---@param bufnr integer
function M.restore(bufnr)
  if is_ready() then
    require('runner.chat').restore(bufnr)
  end
end

function M.tools()
  if is_ready() then
    require('runner.tools').pick(require('runner.chat').open({ is_quiet = true }))
  end
end

---@param name string
function M.mode(name)
  if is_ready() then
    require('runner.agent').set_mode(require('runner.chat').open({ is_quiet = true }), name)
  end
end

---@param lead string
---@return string[]
function M.complete_mode(lead)
  return require('runner.agent').complete_mode(lead)
end

function M.checks()
  if is_ready() then
    require('runner.agent').check()
  end
end

function M.edits()
  if is_ready() then
    require('runner.agent').edits(require('runner.chat').open({ is_quiet = true }))
  end
end

---@param is_redo boolean
function M.undo(is_redo)
  if is_ready() then
    require('runner.agent').undo(require('runner.chat').open({ is_quiet = true }), is_redo)
  end
end

--- The arguments of the user command.
---@param arguments { fargs: string[] }
function M.login(arguments)
  if is_ready() then
    require('runner.login').start(arguments.fargs[1], arguments.fargs[2])
  end
end

---@param server string
function M.logout(server)
  if is_ready() then
    require('runner.login').logout(server)
  end
end

---@param lead string
---@return string[]
function M.complete_login(lead)
  return is_ready() and require('runner.login').complete(lead) or {}
end

function M.models()
  if is_ready() then
    require('runner.models').pick()
  end
end

function M.sessions()
  if is_ready() then
    require('runner.sessions').pick()
  end
end

---@param model string
function M.pull(model)
  if is_ready() then
    require('runner.pull').start(vim.trim(model))
  end
end

---@param lead string
---@return string[]
function M.complete_pull(lead)
  return is_ready() and require('runner.pull').complete(lead) or {}
end

--- The words of the user command.
---@param words string
function M.engine(words)
  if is_ready() then
    require('runner.engine').run(words)
  end
end

---@param lead string
---@param line string Up to the cursor.
---@return string[]
function M.complete_engine(lead, line)
  return is_ready() and require('runner.engine').complete(lead, line) or {}
end

function M.cancel()
  if not is_ready() then
    return
  end
  local is_cancelled = require('runner.edit').cancel()
    or require('runner.chat').cancel()
    or require('runner.login').cancel()
    or require('runner.work').cancel()
  if not is_cancelled then
    require('runner.notice').say('Nothing is under way.')
  end
end

return M
