--- The editor's daemon: an ordinary language client with the name `runnerd`, configured by `setup`.
local command = require('runner.command')
local incoming = require('runner.incoming')
local notice = require('runner.notice')
local options = require('runner.options')

local M = {}

local name = 'runnerd'
--- In ms that the editor waits when it exits, while the daemon keeps the running answer.
local exit_timeout = 1000
--- The newest client.
---@type { id: integer, cmd: string[], is_trusted: boolean }?
local started
--- Options that a daemon refused, with the reason. They are not tried again.
---@type { settings: table<string, any>, problem: string }?
local refused
--- Callbacks that wait for `initialize`, by client.
---@type table<integer, fun(client: vim.lsp.Client)[]>
local waiting = {}
---@type fun(client_id: integer, message: string)[]
local end_listeners = {}

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

--- Why a daemon refused the present options, if one has.
---@return string?
local function refusal()
  if options.problem and not running() then
    return options.problem
  elseif refused and vim.deep_equal(refused.settings, options.for_daemon()) then
    return refused.problem
  end
end

---@param code integer
---@param signal integer Not 0: it was ended from outside.
---@return string
local function end_of(code, signal)
  local log = vim.fn.fnamemodify(vim.lsp.log.get_filename(), ':~')
  local reason = code ~= 0 and signal == 0 and (' What it said is in %s.'):format(log) or ''
  local ended = 'The daemon ended (code %d, signal %d).%s The next request starts it again.'
  return ended:format(code, signal, reason)
end

--- Fails the requests to this client, which no one will answer.
---@param client_id integer
---@param message string
local function report_end(client_id, message)
  waiting[client_id] = nil
  for _, listener in ipairs(end_listeners) do
    listener(client_id, message)
  end
end

---@param listener fun(client_id: integer, message: string) Hears of each client that ends, and why.
function M.on_end(listener)
  table.insert(end_listeners, listener)
end

---@param cmd string[]
---@return vim.lsp.ClientConfig
local function to_config(cmd)
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.textDocument.inlineCompletion = { dynamicRegistration = true }
  capabilities.experimental = {
    runner = { approvesTools = true, elicits = true, showsDiffs = true, decisions = { 'answer', 'stop' } },
  }
  local settings = options.for_daemon()
  return {
    name = name,
    cmd = command.starter(cmd, function(err)
      refused = { settings = settings, problem = incoming.to_problem(err.message, err.data) }
      notice.warn_once(refused.problem)
    end),
    root_dir = vim.uv.cwd(),
    exit_timeout = exit_timeout,
    capabilities = capabilities,
    init_options = settings,
    settings = { runner = options.for_running_daemon({}) },
    handlers = incoming.handlers,
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
      report_end(client_id, refusal() or end_of(code, signal))
    end),
  }
end

--- The daemon, which is started if needed, and attached to the buffer if one is given.
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

---@param client vim.lsp.Client
---@param continue fun(client: vim.lsp.Client)
local function once_initialized(client, continue)
  if client.initialized then
    continue(client)
  else
    waiting[client.id] = waiting[client.id] or {}
    table.insert(waiting[client.id], continue)
  end
end

--- Calls back once the daemon is ready, and starts it if needed.
---@param continue fun(client: vim.lsp.Client)
---@return integer? client_id
---@return string? problem
function M.when_initialized(continue)
  local client_id, problem = M.start()
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  if not client then
    return nil, problem
  end
  once_initialized(client, continue)
  return client.id
end

---@param client vim.lsp.Client
local function start_anew(client)
  client:stop()
  report_end(client.id, 'The daemon was started anew, by another command. Ask again.')
  M.start()
end

---@param client vim.lsp.Client
local function update_trust(client)
  if started.is_trusted == options.is_trusted() then
    return
  end
  started.is_trusted = options.is_trusted()
  once_initialized(client, function()
    client:notify('runner/trust/didChange', { trusted = options.is_trusted() })
  end)
end

--- Sends changed options to a running daemon. Only another command restarts it.
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
  -- A daemon that is still starting asks for them.
  if client.initialized then
    client:notify('workspace/didChangeConfiguration', { settings = client.settings })
  end
end

--- Detaches a buffer from the daemon.
---@param bufnr integer
function M.detach(bufnr)
  local client = running()
  if client and client.attached_buffers[bufnr] then
    vim.lsp.buf_detach_client(bufnr, client.id)
  end
end

--- Applies the completion options to the buffers that are already attached.
function M.refresh_completion()
  local client = running()
  if client then
    require('runner.completion').refresh(client.id)
  end
end

return M
