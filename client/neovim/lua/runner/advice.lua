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

local auth = 'Say in "auth" of ~/.config/runner/config.json where '
local new_chat = 'begin a new chat with :RunnerChat!'

---@param advice runner.Advice
---@return string
local function text_of(advice)
  return advice.text
end

--- A sentence, or what makes one of the advice.
---@type table<string, string|fun(advice: runner.Advice): string>
local words = {
  ['start-runner'] = ':RunnerEngine offers what can be started here. '
    .. 'Or start yours (for example with "ollama serve" or "llama-server"), or set `host` in setup().',
  ['check-address'] = 'Check `host` in setup().',
  ['check-proxy'] = 'Check `host` in setup(), and whether there is a proxy in between.',
  ['set-address'] = 'Set `host` in setup() to where the runner itself answers.',
  ['name-ca-file'] = 'If it is your own, name its CA file as `caFile` in setup().',
  ['set-token'] = auth .. 'its token is, or check the one that is there.',
  ['set-password'] = auth .. 'its "user:password" is, or check the one that is there.',
  ['use-https'] = text_of,
  ['shorten-prompt'] = function(advice)
    return enlarge(advice, 'Shorten it or ' .. new_chat, ('Shorten it, %s,'):format(new_chat)) .. '.'
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
  ['wait-for-restart'] = text_of,
  ['check-network'] = 'Check the network, or set `catalogUrl` in setup(); installed models work without it.',
  ['set-catalog'] = 'Set `catalogUrl` in setup() to where a catalog answers; installed models work without it.',
}

---@param said runner.Advised
---@return string
function M.fit(said)
  local advice = said.advice
  local say = advice and words[advice.code]
  if not say then
    return said.message
  end
  return ('%s %s'):format(advice.problem, type(say) == 'string' and say or say(advice))
end

return M
