--- What to do about a failure, in the words of this editor.
local M = {}

---@class runner.Advice
---@field code string
---@field problem string
---@field text string
---@field server? string

---@class runner.Advised
---@field message string
---@field advice? runner.Advice

---@type table<string, fun(advice: runner.Advice): string>
local words = {
  ['start-runner'] = function()
    return 'Start it (for example with "ollama serve"), or set `host` in setup().'
  end,
  ['check-address'] = function()
    return 'Check `host` in setup().'
  end,
  ['check-proxy'] = function()
    return 'Check `host` in setup(), and whether there is a proxy in between.'
  end,
  ['set-address'] = function()
    return 'Set `host` in setup() to where the runner itself answers.'
  end,
  ['name-ca-file'] = function()
    return 'If it is your own, name its CA file as `caFile` in setup().'
  end,
  ['set-token'] = function()
    return 'Say in "auth" of ~/.config/runner/config.json where its token is, or check the one that is there.'
  end,
  ['use-https'] = function(advice)
    return advice.text
  end,
  ['shorten-prompt'] = function()
    return 'Shorten it, begin a new chat with :RunnerChat!, or set a larger `contextLength` in setup().'
  end,
  ['offer-fewer-tools'] = function()
    return 'Most of it describes the tools: switch some off with :RunnerTools, or set a larger `contextLength` in setup().'
  end,
  ['make-room'] = function()
    return 'Begin a new chat with :RunnerChat! or set a larger `contextLength` in setup() before anything is refused.'
  end,
  ['log-in'] = function(advice)
    local token = 'enter a token for its address under "auth" in ~/.config/runner/config.json'
    return ('Log in with :RunnerLogin %s, or %s.'):format(advice.server, token)
  end,
  ['wait-for-restart'] = function(advice)
    return advice.text
  end,
  ['check-network'] = function()
    return 'Check the network, or set `catalogUrl` in setup(); installed models work without it.'
  end,
  ['set-catalog'] = function()
    return 'Set `catalogUrl` in setup() to where a catalog answers; installed models work without it.'
  end,
}

---@param said runner.Advised
---@return string
function M.fit(said)
  local advice = said.advice
  local say = advice and words[advice.code]
  return say and ('%s %s'):format(advice.problem, say(advice)) or said.message
end

return M
