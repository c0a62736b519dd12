local M = {}

local needed = 'nvim-0.12'

--- Warns only once.
---@return boolean
local function is_new_enough()
  if vim.fn.has(needed) == 1 then
    return true
  end
  vim.notify_once('Runner needs Neovim 0.12 or newer. Nothing of it was started.', vim.log.levels.ERROR)
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

--- Highlight groups, which a colour scheme may override.
local links = {
  RunnerHeading = 'Title',
  RunnerHint = 'Comment',
  RunnerError = 'DiagnosticError',
  RunnerEditLines = 'Visual',
  RunnerEditAdded = 'DiffAdd',
  RunnerEditDeleted = 'DiffDelete',
}

--- Attaches `runnerd` to Modelfiles and, while `completionModel` is set, to the files that are edited.
---@param options? runner.Options
function M.setup(options)
  if not is_new_enough() then
    return
  end
  require('runner.options').set(options or {})
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
  -- It follows the runner from now on.
  require('runner.status')
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

--- What a user command was given.
---@class runner.CommandArguments
---@field args string
---@field fargs string[]
---@field bang boolean
---@field range integer
---@field line1 integer
---@field line2 integer

--- The lines that a user command was given.
---@param arguments runner.CommandArguments
---@return runner.Lines?
local function lines_of(arguments)
  return arguments.range > 0 and { first = arguments.line1 - 1, last = arguments.line2 } or nil
end

--- The chat that a command is about.
---@return runner.Chat
local function chat()
  return require('runner.chat').open({ is_quiet = true })
end

--- The user commands, by their names without `Runner`.
---@type table<string, fun(arguments: runner.CommandArguments)>
local commands = {
  Chat = function(arguments)
    local selection = arguments.range > 0
        and require('runner.chat.attachments').of_lines(0, arguments.line1, arguments.line2)
      or nil
    require('runner.chat').open({ prompt = arguments.args, selection = selection, is_fresh = arguments.bang })
  end,
  Edit = function(arguments)
    require('runner.edit').start(vim.trim(arguments.args), lines_of(arguments))
  end,
  EditAccept = function(arguments)
    require('runner.edit').accept(lines_of(arguments))
  end,
  EditReject = function(arguments)
    require('runner.edit').reject(lines_of(arguments))
  end,
  Models = function()
    require('runner.models').pick()
  end,
  Sessions = function()
    require('runner.sessions').pick()
  end,
  Tools = function()
    require('runner.tools').pick(chat())
  end,
  Mode = function(arguments)
    require('runner.agent').set_mode(chat(), arguments.args)
  end,
  Check = function()
    require('runner.agent').check()
  end,
  Edits = function()
    require('runner.agent').edits(chat())
  end,
  Undo = function(arguments)
    require('runner.agent').undo(chat(), arguments.bang)
  end,
  Login = function(arguments)
    require('runner.login').start(arguments.fargs[1], arguments.fargs[2])
  end,
  Logout = function(arguments)
    require('runner.login').logout(arguments.args)
  end,
  Pull = function(arguments)
    require('runner.pull').start(vim.trim(arguments.args))
  end,
  Engine = function(arguments)
    require('runner.engine').run(arguments.args)
  end,
  Cancel = function()
    local is_cancelled = require('runner.edit').cancel()
      or require('runner.chat').cancel()
      or require('runner.login').cancel()
      or require('runner.work').cancel()
    if not is_cancelled then
      require('runner.notice').say('Nothing is under way.')
    end
  end,
}

---@param name string Of a user command, without `Runner`.
---@param arguments runner.CommandArguments
function M.run(name, arguments)
  if is_ready() then
    commands[name](arguments)
  end
end

--- The module that completes the words of a command: its `complete` takes the word and the line, up to the cursor.
local completing = { Mode = 'agent', Login = 'login', Logout = 'login', Pull = 'pull', Engine = 'engine' }

---@param name string Of a user command, without `Runner`.
---@param lead string
---@param line string Up to the cursor.
---@return string[]
function M.complete(name, lead, line)
  return is_ready() and require('runner.' .. completing[name]).complete(lead, line) or {}
end

--- Makes a buffer a chat that an editor session or `:edit` has created by its name.
---@param bufnr integer
function M.restore(bufnr)
  if is_ready() then
    require('runner.chat').restore(bufnr)
  end
end

return M
