--- What `setup` was given: our own keys, and those that are the daemon's.
local M = {}

---@class runner.Options: runner.Settings
---@field cmd? string[] How the daemon is started.
---@field keymap? string|false The key in insert mode that takes a suggestion; false is none. Default `<Tab>`.

local own_keys = { 'cmd', 'keymap' }
local daemon_keys = require('runner.settings')

--- As they were set last; nil before that.
---@type runner.Options?
M.current = nil

---@param options runner.Options
local function refuse_unknown(options)
  local known = vim.list_extend(vim.list_extend({}, own_keys), daemon_keys)
  for _, key in ipairs(vim.fn.sort(vim.tbl_keys(options))) do
    if not vim.list_contains(known, key) then
      error(('Runner has no option "%s". There are: %s.'):format(key, table.concat(known, ', ')), 0)
    end
  end
end

---@param options runner.Options
function M.set(options)
  vim.validate('options', options, 'table')
  refuse_unknown(options)
  vim.validate('cmd', options.cmd, vim.islist, true, 'a list of the program and its arguments')
  vim.validate('keymap', options.keymap, function(key)
    return key == false or type(key) == 'string'
  end, true, 'a key or false')
  M.current = vim.tbl_extend('keep', options, { cacheDir = vim.fn.stdpath('cache') .. '/runner' })
end

--- For a daemon that starts. An empty text is as if it were not given.
---@return table<string, any>
function M.for_daemon()
  local options = vim.empty_dict()
  for _, key in ipairs(daemon_keys) do
    local value = M.current[key]
    if value ~= '' then
      options[key] = value
    end
  end
  -- What `setup` says is the user's: no folder that is opened has a part in it.
  options.sendsUserSettings = true
  return options
end

--- For a daemon that runs and was told other settings before: what is not set any more is null, its default.
---@param told table<string, any>
---@return table<string, any>
function M.for_running_daemon(told)
  local options = vim.empty_dict()
  for _, key in ipairs(daemon_keys) do
    local value = M.current[key]
    if key ~= 'trusted' and value ~= '' and value ~= nil then
      options[key] = value
    elseif told[key] ~= nil then
      options[key] = vim.NIL
    end
  end
  return options
end

---@return boolean
function M.is_trusted()
  return M.current.trusted ~= false
end

---@return boolean
function M.completes()
  return (M.current.completionModel or '') ~= ''
end

---@return string|false
function M.accept_key()
  if M.current.keymap == nil then
    return '<Tab>'
  end
  return M.current.keymap
end

return M
