--- The one daemon of this editor: an ordinary language client of the name `runnerd`.
local advice = require('runner.advice')
local command = require('runner.command')
local notice = require('runner.notice')
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
--- The client that was started last.
---@type { id: integer, cmd: string[], is_trusted: boolean }?
local started
--- Options that a daemon refused, and why: they are not tried again.
---@type { settings: table<string, any>, problem: string }?
local refused
--- LSP's; Neovim drops the callback of an answer with this code.
local cancelled = { code = -32800, message = 'Cancelled.' }

--- Of requests that are not answered yet, by the client that was asked: they fail when its daemon ends.
---@type table<runner.Done, integer>
local unanswered = {}
--- What waits for `initialize`, by client.
---@type table<integer, fun(client: vim.lsp.Client)[]>
local waiting = {}
---@type table<string, fun(params: any)[]>
local listeners = {}

---@param client vim.lsp.Client
---@return boolean
local function is_ours(client)
  return client.name == name and not client:is_stopped()
end

---@return vim.lsp.Client?
local function running()
  local client = started and vim.lsp.get_client_by_id(started.id)
  return client and is_ours(client) and client or nil
end

--- Why the options of now are of no use to a daemon, where one has said so.
---@return string?
local function refusal()
  if options.problem and not running() then
    return options.problem
  elseif refused and vim.deep_equal(refused.settings, options.for_daemon()) then
    return refused.problem
  end
end

---@param client_id integer
---@param message string
local function fail_all(client_id, message)
  waiting[client_id] = nil
  for _, done in ipairs(vim.tbl_keys(unanswered)) do
    if unanswered[done] == client_id then
      done({ message = message })
    end
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

--- What a daemon says of options that it refuses, in the words of `setup`.
---@param message string
---@return string
local function to_problem(message)
  local key, reason = message:match('The parameter "%a+%.([^"]+)" is not valid: (.*)$')
  return key and ('The option %s is wrong: %s'):format(key, reason) or message
end

---@param _ any
---@param params { level: string, source: string, message: string }
local function write_log(_, params)
  local log = vim.lsp.log
  local write = log[params.level] or log.info
  local left = params.message:match('^A setting is left as it was%. (.*)$')
  if left then
    notice.warn(to_problem(left))
  end
  write(('runnerd (%s): %s'):format(params.source, params.message))
end

--- The editor runs what answers a request in a coroutine, so that the answer may come later.
---@param _ any
---@param question runner.Question
---@return { decision: string }
local function approve(_, question)
  local answering = coroutine.running()
  require('runner.approval').ask(question, function(decision)
    vim.schedule(function()
      coroutine.resume(answering, { decision = decision })
    end)
  end)
  return coroutine.yield()
end

--- After what the editor itself does with it, so that what is new now counts for the open buffers.
local function register(err, params, context)
  local result = vim.lsp.handlers['client/registerCapability'](err, params, context)
  require('runner.completion').refresh(context.client_id)
  return result
end

---@param cmd string[]
---@return vim.lsp.ClientConfig
local function to_config(cmd)
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.textDocument.inlineCompletion = { dynamicRegistration = true }
  capabilities.experimental = { runner = { approvesTools = true } }
  local settings = options.for_daemon()
  return {
    name = name,
    cmd = command.starter(cmd, function(err)
      refused = { settings = settings, problem = to_problem(err.message) }
      notice.warn_once(refused.problem)
    end),
    root_dir = vim.uv.cwd(),
    capabilities = capabilities,
    init_options = settings,
    settings = { runner = options.for_running_daemon({}) },
    handlers = {
      ['runner/chat/delta'] = forwarder('runner/chat/delta'),
      ['runner/status/didChange'] = forwarder('runner/status/didChange'),
      ['runner/models/didChange'] = forwarder('runner/models/didChange'),
      ['runner/log'] = write_log,
      ['runner/tools/approve'] = approve,
      ['client/registerCapability'] = register,
    },
    on_init = function(client)
      local ready = waiting[client.id] or {}
      waiting[client.id] = nil
      for _, continue in ipairs(ready) do
        continue(client)
      end
    end,
    on_attach = function(client, bufnr)
      require('runner.completion').enable(client, bufnr)
    end,
    on_exit = vim.schedule_wrap(function(code, signal, client_id)
      if not running() then
        require('runner.status').forget()
      end
      local ended = 'The daemon ended (code %d, signal %d). The next request starts it again.'
      fail_all(client_id, refusal() or ended:format(code, signal))
    end),
  }
end

--- The daemon, started where it is not there yet; attached to a buffer where one is given.
---@param bufnr? integer
---@return integer? client_id
---@return string? problem
function M.start(bufnr)
  local cmd, problem = command.find()
  problem = problem or refusal()
  if not cmd or problem then
    return nil, problem
  end
  local client_id = vim.lsp.start(to_config(cmd), {
    bufnr = bufnr,
    attach = bufnr ~= nil,
    silent = true,
    reuse_client = is_ours,
  })
  if client_id then
    started = running() and started or { id = client_id, cmd = cmd, is_trusted = options.is_trusted() }
    return client_id
  end
  return nil, ('"%s" does not start. See ":checkhealth runner".'):format(table.concat(cmd, ' '))
end

---@param continue fun(client: vim.lsp.Client)
---@return integer? client_id
---@return string? problem
local function when_initialized(continue)
  local client_id, problem = M.start()
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  if not client then
    return nil, problem
  end
  if client.initialized then
    continue(client)
  else
    waiting[client.id] = waiting[client.id] or {}
    table.insert(waiting[client.id], continue)
  end
  return client.id
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
    done(err and vim.tbl_extend('force', err, { message = advice.fit(err.message) }), result)
  end
  local client_id, problem = when_initialized(function(connected)
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
  elseif not is_over then
    unanswered[finish] = client_id
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

---@param client vim.lsp.Client
local function start_anew(client)
  client:stop()
  fail_all(client.id, 'The daemon was started anew, by another command. Ask again.')
  M.start()
end

---@param client vim.lsp.Client
local function tell_trust(client)
  client:notify('runner/trust/didChange', { trusted = options.is_trusted() })
end

---@param client vim.lsp.Client
local function update_trust(client)
  if started.is_trusted == options.is_trusted() then
    return
  end
  started.is_trusted = options.is_trusted()
  if client.initialized then
    tell_trust(client)
  else
    waiting[client.id] = waiting[client.id] or {}
    table.insert(waiting[client.id], tell_trust)
  end
end

--- Has a daemon that is there do as `setup` says now. Only another command starts it anew.
function M.update()
  local client = running()
  if options.problem then
    notice.warn_once(options.problem)
  end
  if not client or options.problem then
    return
  end
  local cmd = command.find()
  if cmd and not vim.deep_equal(cmd, started.cmd) then
    return start_anew(client)
  end
  update_trust(client)
  local settings = options.for_running_daemon(client.settings.runner)
  if vim.deep_equal(settings, client.settings.runner) then
    return
  end
  client.settings = { runner = settings }
  -- One that is still starting asks for them.
  if client.initialized then
    client:notify('workspace/didChangeConfiguration', { settings = client.settings })
  end
end

--- The daemon hears no more of the buffer.
---@param bufnr integer
function M.detach(bufnr)
  local client = running()
  if client and client.attached_buffers[bufnr] then
    vim.lsp.buf_detach_client(bufnr, client.id)
  end
end

--- Has what `setup` says of completion hold in the buffers that are attached already.
function M.refresh_completion()
  local client = running()
  if client then
    require('runner.completion').refresh(client.id)
  end
end

return M
