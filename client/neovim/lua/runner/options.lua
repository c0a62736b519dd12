--- The options of `setup`: the plugin's own keys, and the daemon's settings.
local check = require('runner.check')

local M = {}

---@class runner.Options: runner.InitializationOptions
---@field cmd? string[] How the daemon is started.
---@field keymap? string|false The key in insert mode that takes a suggestion; false is none. Default `<Tab>`.

local own_keys = { 'cmd', 'keymap' }
local settings = require('runner.settings')
local daemon_keys = vim.tbl_map(function(setting)
  return setting.name
end, settings)

--- The last options; nil before `setup`.
---@type runner.Options?
M.current = nil

--- What is wrong with the options. Wrong options are not sent to a daemon, and start none.
---@type string?
M.problem = nil

---@param options runner.Options
---@return string?
local function problem_with(options)
  for _, setting in ipairs(settings) do
    local problem = check.problem(setting.name, options[setting.name], setting.schema)
    if problem then
      return problem
    end
  end
end

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
  M.problem = problem_with(options)
  M.current = vim.tbl_extend('keep', options, { cacheDir = vim.fn.stdpath('cache') .. '/runner' })
end

--- A value that is no table stays as it is: the daemon reports what is wrong with it.
---@param value any
---@return any
local function named(value)
  return type(value) == 'table' and next(value) == nil and vim.empty_dict() or value
end

---@param entry any
---@return any
local function to_entry(entry)
  if type(entry) ~= 'table' then
    return entry
  end
  return vim.tbl_extend('force', named(entry), {
    env = entry.env and named(entry.env),
    headers = entry.headers and named(entry.headers),
  })
end

--- An empty Lua table would be sent as a list.
---@param setting { name: string, schema: runner.Schema }
---@return any
local function value_of(setting)
  local value = M.current[setting.name]
  if value == '' then
    return nil
  elseif setting.name == 'mcpServers' and type(value) == 'table' then
    return named(vim.tbl_map(to_entry, value))
  end
  return setting.schema.type == 'object' and named(value) or value
end

--- For a daemon that starts. An empty text counts as not set.
---@return table<string, any>
function M.for_daemon()
  local options = vim.empty_dict()
  for _, setting in ipairs(settings) do
    options[setting.name] = value_of(setting)
  end
  -- The options of `setup` are the user's own: no opened folder can change them.
  options.sendsUserSettings = true
  return options
end

--- For a running daemon, which may have other settings: null resets a setting to its default.
---@param told table<string, any>
---@return table<string, any>
function M.for_running_daemon(told)
  local options = vim.empty_dict()
  for _, setting in ipairs(settings) do
    local key, value = setting.name, value_of(setting)
    if key ~= 'trusted' and value ~= nil then
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
