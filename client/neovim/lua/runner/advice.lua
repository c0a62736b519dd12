--- What to do about a failure, in the words of this editor.
local M = {}

---@class runner.Advised
---@field message string
---@field advice? runner.Advice

--- The sentence for a window that is too small: `without` is what else helps, and a larger window where the model has one.
---@param advice runner.Advice
---@param without string
---@param with string
---@return string
local function enlarge(advice, without, with)
  local tokens = advice.contextLength
  if tokens == 0 then
    return without
  end
  local size = tokens and ('`contextLength = %d`'):format(tokens) or 'a larger `contextLength`'
  return ('%s or set %s in setup()'):format(with, size)
end

---@type table<string, fun(advice: runner.Advice): string>
local words = {
  ['start-runner'] = function()
    local yours = 'Or start yours (for example with "ollama serve" or "llama-server"), or set `host` in setup().'
    return ':RunnerEngine offers what can be started here. ' .. yours
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
  ['set-password'] = function()
    local where = 'where its "user:password" is, or check the one that is there.'
    return 'Say in "auth" of ~/.config/runner/config.json ' .. where
  end,
  ['use-https'] = function(advice)
    return advice.text
  end,
  ['shorten-prompt'] = function(advice)
    local new = 'begin a new chat with :RunnerChat!'
    return enlarge(advice, 'Shorten it or ' .. new, ('Shorten it, %s,'):format(new)) .. '.'
  end,
  ['offer-fewer-tools'] = function(advice)
    local fewer = 'Most of it describes the tools: switch some off with :RunnerTools'
    return enlarge(advice, fewer, fewer .. ',') .. '.'
  end,
  ['make-room'] = function(advice)
    local new = 'Begin a new chat with :RunnerChat!'
    return enlarge(advice, new, new) .. ' before anything is refused.'
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
