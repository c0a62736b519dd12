--- `:checkhealth runner`
local controls = require('runner.controls')

local M = {}

local health = vim.health

---@param command string[]
---@return vim.SystemCompleted? result Absent: there is no such program.
local function run(command)
  local found, process = pcall(vim.system, command, { text = true, timeout = 10000 })
  return found and process:wait() or nil
end

--- The answer of the daemon. Without one, the reason is reported.
---@param method string
---@param params table
---@param within integer Milliseconds.
---@param otherwise string Where no reason is known.
---@return any?
local function ask(method, params, within, otherwise)
  local answer, problem = require('runner.connection').request_now(method, params, within)
  if not answer then
    health.error(problem or otherwise)
  end
  return answer
end

local function check_node()
  local result = run({ 'node', '--version' })
  local version = result and result.code == 0 and vim.split(result.stdout, '\n')[1]
  if not version then
    health.error('Node is not on the path.', 'Install Node 20.19 or newer from https://nodejs.org.')
  elseif vim.version.lt(version, '20.19.0') then
    health.error('Node is ' .. version .. '.', 'Runner needs 20.19 or newer.')
  else
    health.ok('Node ' .. version)
  end
end

--- The arguments without the one that opens a connection.
---@param cmd string[]
local function check_daemon_version(cmd)
  local arguments = vim.tbl_filter(function(argument)
    return argument ~= '--stdio'
  end, cmd)
  local result = run(vim.list_extend(arguments, { '--version' }))
  local shown = table.concat(cmd, ' ')
  if result and result.code == 0 then
    health.ok(('%s, version %s'):format(shown, vim.trim(result.stdout)))
  else
    health.error(shown .. ' does not start.', result and vim.trim(result.stderr) or 'There is no such program.')
  end
end

---@return boolean
local function check_daemon()
  health.start('The daemon')
  check_node()
  local cmd, problem = require('runner.command').find()
  if not cmd then
    health.error(problem or '')
    return false
  end
  check_daemon_version(cmd)
  return true
end

---@return boolean
local function check_runner()
  health.start('The runner')
  local status = ask('runner/status', vim.empty_dict(), 15000, 'It did not answer.')
  if not status then
    return false
  end
  local report = ({ ok = health.ok, warning = health.warn, error = health.error })[status.kind]
  local version = status.version and (' Version %s.'):format(status.version) or ''
  local name = status.product == 'ollama' and ' It is Ollama.' or ''
  report(require('runner.advice').fit(status) .. version .. name)
  return status.state ~= 'offline'
end

---@param models runner.Model[]
local function check_chat(models)
  local names = vim
    .iter(models)
    :filter(require('runner.models').can_chat)
    :map(function(model)
      return model.name
    end)
    :totable()
  if #names == 0 then
    health.warn('No installed model can chat.', require('runner.status').how_to_get())
  else
    health.ok('Models that can chat: ' .. table.concat(names, ', '))
  end
end

---@param models runner.Model[]
local function check_completion(models)
  local options = require('runner.options')
  if not options.completes() then
    return health.info('Completion is off: completionModel is not set.')
  end
  local wanted = options.current.completionModel
  local model = vim.iter(models):find(function(model)
    return model.name == wanted or model.name == wanted .. ':latest'
  end)
  if not model then
    local advice = require('runner.status').can('pull') and ':RunnerPull ' .. wanted or nil
    health.warn(('The completion model %s is not installed.'):format(wanted), advice)
  elseif model.capabilities.insert.value == true then
    health.ok(('Completion by %s, which fills in the middle.'):format(wanted))
  else
    health.info(('Completion by %s, in the words of its family where that is known.'):format(wanted))
  end
end

--- What was started by `:RunnerEngine`, or by `runner engine` in the terminal.
local function check_engine()
  health.start('The engine')
  local engine = ask('runner/engine/status', vim.empty_dict(), 15000, 'It is not known what was started.')
  if not engine then
    return
  end
  local message = controls.line(engine.message, 500)
  if engine.state == 'down' then
    health.warn(message, ':RunnerEngine start')
  elseif engine.state == 'running' then
    health.ok(message)
  else
    health.info(message)
  end
  if engine.isInstalled then
    health.info("Runner's own engine is installed." .. (engine.sample and ' The small model is, too.' or ''))
  end
end

local function check_models()
  health.start('Models')
  local result = ask('runner/models/list', { everywhere = true }, 15000, 'There is no list of them.')
  if not result then
    return
  end
  for _, silent in ipairs(result.problems or {}) do
    health.warn(controls.line(silent.message, 500))
  end
  check_chat(result.models)
  check_completion(result.models)
end

local mend = 'Correct its entry in mcpServers, which is in setup() or in ~/.config/runner/config.json.'

---@param server runner.ListedToolServer
local function check_tool_server(server)
  local name = controls.line(server.name, 64)
  if server.state == 'ready' then
    health.ok(('%s offers %d %s.'):format(name, #server.tools, #server.tools == 1 and 'tool' or 'tools'))
  elseif server.state == 'disabled' then
    health.info(name .. ' is disabled.')
  elseif server.needsLogin then
    health.warn(name .. ' requires a login.', (':RunnerLogin %s'):format(name))
  else
    local problem = server.advice and server.advice.problem or server.message or name .. ' does not run.'
    health.error(controls.line(problem, 500), mend)
  end
end

--- Starts each tool server.
local function check_tools()
  health.start('Tool servers')
  local result = ask('runner/tools/list', vim.empty_dict(), 20000, 'There is no list of them.')
  if not result then
    return
  elseif #result.servers == 0 then
    return health.info('There is none. See :help runner-tools.')
  end
  table.sort(result.servers, function(a, b)
    return a.name < b.name
  end)
  vim.iter(result.servers):each(check_tool_server)
end

function M.check()
  if vim.fn.has('nvim-0.12') == 0 then
    health.start('Neovim')
    return health.error('It is older than 0.12.', 'Install a newer one from https://neovim.io.')
  end
  health.start('Neovim')
  health.ok(tostring(vim.version()))
  if not require('runner.options').current then
    require('runner').setup()
  end
  if check_daemon() then
    local is_there = check_runner()
    check_engine()
    if is_there then
      check_models()
    end
    check_tools()
  end
end

return M
