--- What `setup` was given: our own keys, and those that are the daemon's.
local M = {}

---@class runner.Options
---@field cmd? string[] How the daemon is started.
---@field keymap? string|false The key in insert mode that takes a suggestion; false is none. Default `<Tab>`.
---@field host? string
---@field servers? { name: string, url: string, caFile?: string }[]
---@field caFile? string
---@field timeouts? { connect?: integer, list?: integer, firstByte?: integer, idle?: integer }
---@field keepAlive? string|number
---@field contextLength? integer
---@field trusted? boolean
---@field logLevel? 'debug'|'info'|'warn'|'error'
---@field completionModel? string
---@field exclude? string[]
---@field streamLogs? boolean
---@field cacheDir? string
---@field modelfilesPath? string
---@field catalogUrl? string

local own_keys = { 'cmd', 'keymap' }

--- Those of `initializationOptions` in docs/PROTOCOL.md.
local daemon_keys = {
  'host',
  'servers',
  'caFile',
  'timeouts',
  'keepAlive',
  'contextLength',
  'trusted',
  'logLevel',
  'completionModel',
  'exclude',
  'streamLogs',
  'cacheDir',
  'modelfilesPath',
  'catalogUrl',
}

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
  -- A model that is set no longer has to be told: what is absent keeps its value in the daemon.
  local defaults = { cacheDir = vim.fn.stdpath('cache') .. '/runner', completionModel = '' }
  M.current = vim.tbl_extend('keep', options, defaults)
end

--- For the daemon: what it knows, and no more. An empty text is as if it were not given, but for the model, where it
--- says that there is none.
---@return table<string, any>
function M.for_daemon()
  local options = vim.empty_dict()
  for _, key in ipairs(daemon_keys) do
    local value = M.current[key]
    if value ~= '' or key == 'completionModel' then
      options[key] = value
    end
  end
  return options
end

--- What undoes a key in a daemon that was told of it. The others it forgets only when it is started anew.
---@return table<string, any>
local function defaults_to_tell()
  local host = vim.env.OLLAMA_HOST or ''
  return {
    host = host ~= '' and host or 'http://127.0.0.1:11434',
    servers = {},
    timeouts = vim.empty_dict(),
    contextLength = 0,
    logLevel = 'info',
    exclude = {},
    streamLogs = false,
    catalogUrl = 'https://ollama.com',
  }
end

--- For a daemon that runs with other options: what it is not told it would keep.
---@param told table<string, any>
---@return table<string, any>? options Nil where it has to be started anew.
function M.for_running_daemon(told)
  local options = M.for_daemon()
  local defaults = defaults_to_tell()
  for key in pairs(told) do
    if options[key] == nil then
      options[key] = defaults[key]
    end
    if options[key] == nil then
      return nil
    end
  end
  -- A daemon that trusts no settings takes them at its start alone.
  local is_trusted = told.trusted ~= false and options.trusted ~= false
  return (is_trusted or vim.deep_equal(options, told)) and options or nil
end

---@return boolean
function M.completes()
  return M.current.completionModel ~= ''
end

---@return string|false
function M.accept_key()
  if M.current.keymap == nil then
    return '<Tab>'
  end
  return M.current.keymap
end

return M
