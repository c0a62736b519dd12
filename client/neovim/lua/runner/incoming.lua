--- Notifications and requests of the daemon.
local notice = require('runner.notice')

local M = {}

---@type table<string, fun(params: any)[]>
local listeners = {}

---@param method string
---@param listener fun(params: any)
function M.on(method, listener)
  listeners[method] = listeners[method] or {}
  table.insert(listeners[method], listener)
end

---@param method string
local function forwarder(method)
  return function(_, params)
    for _, listener in ipairs(listeners[method] or {}) do
      listener(params)
    end
  end
end

--- The message about an option that a daemon refuses, in the terms of `setup`.
---@param message string
---@param refused? { path: string, problem: string }
---@return string
function M.to_problem(message, refused)
  local key = refused and refused.path and refused.path:match('^%a+%.(.+)$')
  return key and ('The option %s is wrong: %s.'):format(key, refused.problem) or message
end

---@param _ any
---@param params { level: string, source: string, message: string, refused?: { path: string, problem: string } }
local function write_log(_, params)
  local log = vim.lsp.log
  local write = log[params.level] or log.info
  if params.refused then
    notice.warn(M.to_problem(params.message, params.refused))
  end
  write(('runnerd (%s): %s'):format(params.source, params.message))
end

--- The editor runs the handler of a request in a coroutine, so that the answer may come later.
---@param module string Its `ask` takes the question and a function for the answer.
---@return lsp.Handler
local function asker(module)
  return function(_, question)
    local answering = coroutine.running()
    require(module).ask(question, function(result)
      vim.schedule(function()
        coroutine.resume(answering, result)
      end)
    end)
    return coroutine.yield()
  end
end

--- Runs after the editor's own handler, so that open buffers get the new capability.
local function register(err, params, context)
  local result = vim.lsp.handlers['client/registerCapability'](err, params, context)
  require('runner.completion').refresh(context.client_id)
  return result
end

---@type table<string, lsp.Handler>
M.handlers = {
  ['runner/chat/delta'] = forwarder('runner/chat/delta'),
  ['runner/edit/delta'] = forwarder('runner/edit/delta'),
  ['runner/status/didChange'] = forwarder('runner/status/didChange'),
  ['runner/models/didChange'] = forwarder('runner/models/didChange'),
  ['runner/tools/progress'] = forwarder('runner/tools/progress'),
  ['runner/log'] = write_log,
  ['runner/tools/approve'] = asker('runner.approval'),
  ['runner/tools/elicit'] = asker('runner.elicit'),
  ['client/registerCapability'] = register,
}

return M
