--- Lists to choose from, and menus of actions on a chosen item.
local notice = require('runner.notice')
local pane = require('runner.pane')

local M = {}

---@class runner.ListOptions
---@field prompt string
---@field kind? string For the user's own `vim.ui.select`.
---@field format_item? fun(item: any): string

---@class runner.Action
---@field title string
---@field run fun()

--- In ms between two checks whether a list may open.
local period = 100
--- After so many checks, the user learns that a list waits.
local patience = 5

--- Of the list that waits to open. A newer one takes its place.
---@type table?
local waiting

--- Not while the user types, selects or confirms something: the list would take the keys.
---@return boolean
function M.may_open()
  local mode = vim.api.nvim_get_mode()
  return (mode.mode == 'n' or mode.mode == 'nt') and not mode.blocking and vim.fn.pumvisible() == 0
end

--- Opens a list now. Leaving it chooses nothing; with <C-c>, the editor's own list fails instead of calling back.
---@param items any[]
---@param options runner.ListOptions
---@param take fun(item: any?) Called once.
function M.select(items, options, take)
  local is_over = false
  local function finish(item)
    if not is_over then
      is_over = true
      -- A message below the editor's own list would wait for a key.
      vim.cmd.redraw()
      take(item)
    end
  end
  local is_done, problem = pcall(vim.ui.select, items, options, finish)
  if not is_done and not tostring(problem):find('Keyboard interrupt', 1, true) then
    error(problem, 0)
  elseif not is_done then
    finish(nil)
  end
end

---@param prompt string
---@param open fun()
local function when_free(prompt, open)
  local turn = {}
  waiting = turn
  local checks = 0
  local function check()
    if waiting ~= turn then
      return
    elseif M.may_open() then
      waiting = nil
      return open()
    end
    checks = checks + 1
    if checks == patience then
      notice.say(('%s: the list opens in normal mode.'):format(prompt))
    end
    vim.defer_fn(check, period)
  end
  check()
end

--- Lets the user choose from a list that arrives after the command that asked for it, as soon as no keys are meant for
--- something else.
---@param items any[]
---@param options runner.ListOptions
---@param choose fun(item: any) Not called if nothing is chosen.
function M.pick(items, options, choose)
  when_free(options.prompt, function()
    M.select(items, options, function(item)
      if item then
        choose(item)
      end
    end)
  end)
end

--- Shows what the user should know, and asks whether to go on. No comes first, and leaving the list means no.
---@param prompt string
---@param details { title: string, lines: string[] }
---@param yes string What going on is called.
---@param go_on fun()
function M.confirm(prompt, details, yes, go_on)
  when_free(prompt, function()
    -- The editor's own list opens below.
    local close = pane.show(details.title, details.lines, 'above')
    vim.cmd.redraw()
    M.select({ 'No', yes }, { prompt = prompt }, function(choice)
      close()
      if choice == yes then
        go_on()
      end
    end)
  end)
end

--- Lets the user choose an action, and runs it.
---@param prompt string
---@param actions runner.Action[]
function M.pick_action(prompt, actions)
  local function title_of(action)
    return action.title
  end
  M.pick(actions, { prompt = prompt, format_item = title_of }, function(action)
    action.run()
  end)
end

--- Asks before something is deleted. Leaving the question keeps it.
---@param prompt string
---@param delete fun()
function M.confirm_deletion(prompt, delete)
  M.pick({ 'Keep', 'Delete' }, { prompt = prompt }, function(choice)
    if choice == 'Delete' then
      delete()
    end
  end)
end

return M
