--- The one daemon of this editor: an ordinary language client of the name `runnerd`.
local command = require('runner.command')
local options = require('runner.options')

local M = {}

---@class runner.Error
---@field message string A sentence that says what to do next.
---@field code? integer
---@field data? { kind?: string, partial?: table }

---@class runner.Request
---@field cancel fun()

---@alias runner.Done fun(err: runner.Error?, result: any)

local name = 'runnerd'
--- LSP's; Neovim drops the callback of an answer with this code.
local cancelled = { code = -32800, message = 'Cancelled.' }

--- Of requests that are not answered yet: they fail when the daemon ends.
---@type table<runner.Done, true>
local unanswered = {}
--- What waits for `initialize`.
---@type fun(client: vim.lsp.Client)[]
local waiting = {}
---@type table<string, fun(params: any)[]>
local listeners = {}

---@param message string
local function fail_all(message)
  local failed = unanswered
  unanswered, waiting = {}, {}
  for done in pairs(failed) do
    done({ message = message })
  end
end

---@param method string
local function forwarder(method)
  return function(_, params)
    for _, listener in ipairs(listeners[method] or {}) do
      listener(params)
    end
  end
end

---@param _ any
---@param params { level: string, source: string, message: string }
local function write_log(_, params)
  local log = vim.lsp.log
  local write = log[params.level] or log.info
  write(('runnerd (%s): %s'):format(params.source, params.message))
end

--- After what the editor itself does with it, so that what is new now counts for the open buffers.
local function register(err, params, context)
  local result = vim.lsp.handlers['client/registerCapability'](err, params, context)
  require('runner.completion').refresh(context.client_id)
  return result
end

---@return vim.lsp.ClientConfig
local function to_config(cmd)
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.textDocument.inlineCompletion = { dynamicRegistration = true }
  local settings = options.for_daemon()
  return {
    name = name,
    cmd = cmd,
    root_dir = vim.uv.cwd(),
    capabilities = capabilities,
    init_options = settings,
    settings = { runner = settings },
    handlers = {
      ['runner/chat/delta'] = forwarder('runner/chat/delta'),
      ['runner/status/didChange'] = forwarder('runner/status/didChange'),
      ['runner/models/didChange'] = forwarder('runner/models/didChange'),
      ['runner/log'] = write_log,
      ['client/registerCapability'] = register,
    },
    on_init = function(client)
      local ready = waiting
      waiting = {}
      for _, continue in ipairs(ready) do
        continue(client)
      end
    end,
    on_attach = function(client, bufnr)
      require('runner.completion').enable(client, bufnr)
    end,
    on_exit = vim.schedule_wrap(function(code, signal)
      require('runner.status').forget()
      fail_all(('The daemon ended (code %d, signal %d). The next request starts it again.'):format(code, signal))
    end),
  }
end

--- The daemon, started where it is not there yet; attached to a buffer where one is given.
---@param bufnr? integer
---@return integer? client_id
---@return string? problem
function M.start(bufnr)
  local cmd, problem = command.find()
  if not cmd then
    return nil, problem
  end
  local client_id = vim.lsp.start(to_config(cmd), {
    bufnr = bufnr,
    attach = bufnr ~= nil,
    silent = true,
    reuse_client = function(client)
      return client.name == name and not client:is_stopped()
    end,
  })
  if client_id then
    return client_id
  end
  return nil, ('Runner could not start "%s". See ":checkhealth runner".'):format(table.concat(cmd, ' '))
end

---@param continue fun(client: vim.lsp.Client)
---@return string? problem
local function when_initialized(continue)
  local client_id, problem = M.start()
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  if not client then
    return problem
  end
  if client.initialized then
    continue(client)
  else
    waiting[#waiting + 1] = continue
  end
end

--- Asks the daemon, and starts it where that is needed. `done` is called once, also when the daemon ends.
---@param method string
---@param params table
---@param done runner.Done
---@return runner.Request
function M.request(method, params, done)
  local client, request_id
  local is_over = false
  local finish
  finish = function(err, result)
    if is_over then
      return
    end
    is_over = true
    unanswered[finish] = nil
    done(err, result)
  end
  unanswered[finish] = true
  local problem = when_initialized(function(connected)
    if is_over then
      return
    end
    client = connected
    _, request_id = connected:request(method, params, finish)
    if not request_id then
      finish({ message = 'The daemon takes no more requests. Ask again to start it anew.' })
    end
  end)
  if problem then
    finish({ message = problem })
  end
  return {
    cancel = function()
      if client and request_id and not is_over then
        client:cancel_request(request_id)
      end
      -- A cancelled chat is answered, with what had come; of all else no answer arrives here.
      if method ~= 'runner/chat' or not request_id then
        finish(cancelled)
      end
    end,
  }
end

--- For what must be known at once, such as the words that a command line completes.
---@param method string
---@param params table
---@param within integer Milliseconds.
---@return any? result
---@return string? problem
function M.request_now(method, params, within)
  local answer
  local request = M.request(method, params, function(err, result)
    answer = { err = err, result = result }
  end)
  vim.wait(within, function()
    return answer ~= nil
  end, 10)
  if not answer then
    request.cancel()
    return nil, 'The daemon did not answer in time.'
  end
  return answer.result, answer.err and answer.err.message
end

---@param method string
---@param listener fun(params: any)
function M.on(method, listener)
  listeners[method] = listeners[method] or {}
  table.insert(listeners[method], listener)
end

--- Tells a daemon that is there what `setup` says now.
function M.update_settings()
  local client = vim.lsp.get_clients({ name = name })[1]
  if client then
    client.settings = { runner = options.for_daemon() }
    client:notify('workspace/didChangeConfiguration', { settings = client.settings })
  end
end

return M
