--- The ways to a model on this machine, for a user who has no runner. The daemon decides what is offered.
local notice = require('runner.notice')
local picker = require('runner.picker')
local steps = require('runner.engine.steps')

local M = {}

--- Where a runner is looked for if nothing names one.
local usual_url = 'http://127.0.0.1:11434'

local get_ollama = table.concat({
  'Install Ollama from https://ollama.com/download, which starts it.',
  'Then get a model with :RunnerPull qwen3:4b. If yours is elsewhere, set `host` in setup().',
}, ' ')

---@param way runner.EngineWay
---@return runner.Action
local function action_of(way)
  return {
    title = steps.fit(way.label),
    run = function()
      steps.ask_and_fetch(way.fetches, way.warning, function()
        steps.start(way.start)
      end)
    end,
  }
end

---@param offers runner.EngineOffers
---@param engine runner.EngineStatus
---@return runner.Action[]
local function actions_of(offers, engine)
  local actions = vim.tbl_map(action_of, offers.ways)
  local has_ollama = vim.iter(offers.ways):any(function(way)
    return way.start.product == 'ollama'
  end)
  if not has_ollama then
    actions[#actions + 1] = {
      title = 'get Ollama: how',
      run = function()
        notice.answer(get_ollama)
      end,
    }
  end
  if engine.state == 'running' then
    actions[#actions + 1] = { title = 'stop what runs', run = M.stop }
  end
  return actions
end

--- The prompt of the list says what must be known before anything is fetched.
---@param usual { url: string }
---@param engine runner.EngineStatus
---@return string
local function prompt_of(usual, engine)
  if engine.state == 'running' then
    return steps.fit(engine.message) .. ' What would you like?'
  elseif usual.url ~= usual_url then
    return ('What would you like? It is used once nothing names %s any more'):format(usual.url)
  end
  return 'No runner answers. What would you like?'
end

---@param usual { url: string }
---@param engine runner.EngineStatus
local function offer(usual, engine)
  steps.ask('runner/engine/offers', vim.empty_dict(), function(offers)
    local problem = offers.library.problem or offers.sample.problem
    if #offers.ways == 0 and engine.state ~= 'running' and problem then
      return steps.complain(problem)
    end
    picker.pick_action(prompt_of(usual, engine), actions_of(offers, engine))
  end)
end

--- Offers what can be started, unless a runner answers that was not started here.
function M.offer()
  steps.ask('runner/servers', vim.empty_dict(), function(answer)
    steps.ask('runner/engine/status', vim.empty_dict(), function(engine)
      local usual = answer.servers[1]
      if usual.status.state ~= 'offline' and usual.url ~= engine.url then
        return notice.answer(steps.fit(usual.status.message) .. ' Nothing needs to be started.')
      end
      offer(usual, engine)
    end)
  end)
end

function M.stop()
  steps.ask('runner/engine/stop', vim.empty_dict(), function(answer)
    notice.say(answer.wasRunning and 'It is stopped.' or 'Nothing that Runner started was running.')
  end)
end

return M
