--- Messages to the user. The editor waits for a key after a message that is longer than its command line, so either the
--- message is cut, or the command line has more rows for a while.
local controls = require('runner.controls')

local M = {}

--- In ms that a message of several rows stays at least. Then the next key ends it.
local least = 1500

local keys = vim.api.nvim_create_namespace('runner.notice')
local mode = vim.api.nvim_create_namespace('runner.notice.mode')
--- The height of the command line before a message of several rows.
---@type integer?
local height
--- Stands for the newest message since then.
---@type table?
local latest
---@type table<string, true>
local warned = {}

--- Whether the user's own `vim.notify` shows messages elsewhere. Functions of the editor come from one source.
---@return boolean
local function is_elsewhere()
  local notify = vim.notify
  local own = debug.getinfo(vim.deprecate, 'S').source
  return type(notify) ~= 'function' or debug.getinfo(notify, 'S').source ~= own
end

--- Columns of the last row that the ruler and the like need.
---@return integer
local function unusable()
  return vim.o.columns - vim.v.echospace
end

---@param message string
---@return integer
local function rows_of(message)
  return math.ceil((vim.fn.strdisplaywidth(message) + unusable()) / vim.o.columns)
end

--- Drops last sentences until the message has at most this many rows.
---@param message string
---@param rows integer
---@return string
local function cut(message, rows)
  while rows_of(message) > rows do
    local shorter = message:match('^(.+[.!?]) .+$')
    if not shorter then
      return message
    end
    message = shorter
  end
  return message
end

--- The next key gives the command line its height back, unless that key has led to another message.
---@param message table
local function shrink_at_next_key(message)
  vim.on_key(function(_, typed)
    if typed == '' then
      return
    end
    vim.on_key(nil, keys)
    vim.schedule(function()
      if latest == message then
        vim.o.cmdheight, height = height or vim.o.cmdheight, nil
      end
    end)
  end, keys)
end

---@param rows integer
local function make_room(rows)
  if rows <= vim.o.cmdheight and not height then
    return
  end
  local message = {}
  latest = message
  height = height or vim.o.cmdheight
  vim.o.cmdheight = math.max(rows, height)
  -- What was typed last may still need a row of its own.
  vim.cmd.redraw()
  vim.defer_fn(function()
    if latest == message then
      shrink_at_next_key(message)
    end
  end, least)
end

--- While one types text, the editor writes the mode over a message after a second. Here it waits for the next key.
local function keep_while_typing()
  if not vim.o.showmode or not vim.api.nvim_get_mode().mode:match('^[iR]') then
    return
  end
  vim.o.showmode = false
  vim.on_key(function(_, typed)
    if typed ~= '' then
      vim.on_key(nil, mode)
      vim.schedule(function()
        vim.o.showmode = true
      end)
    end
  end, mode)
end

--- The most rows of a message: half of the screen.
---@return integer
local function most_rows()
  return math.max(1, math.floor(vim.o.lines / 2))
end

---@param message string
---@param rows integer Beyond them sentences are dropped, except the first.
---@param level? integer
local function show(message, rows, level)
  local text = 'Runner: ' .. message
  if not is_elsewhere() then
    text = controls.line(cut(text, rows), most_rows() * vim.o.columns - unusable())
    make_room(rows_of(text))
    keep_while_typing()
  end
  vim.notify(text, level)
end

---@param message string
function M.say(message)
  show(message, 1)
end

--- For an answer to what the user asked: as much of it as half of the screen holds.
---@param message string
function M.answer(message)
  show(message, most_rows())
end

---@param message string
function M.warn(message)
  show(message, 1, vim.log.levels.WARN)
end

---@param message string
function M.warn_once(message)
  if not warned[message] then
    warned[message] = true
    M.warn(message)
  end
end

--- For failures of a user's request: as much of them as half of the screen holds.
---@param message string
function M.complain(message)
  show(message, most_rows(), vim.log.levels.ERROR)
end

return M
