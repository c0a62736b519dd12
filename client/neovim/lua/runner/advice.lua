--- What the daemon says to any editor, in the words of this one.
local M = {}

---@type [string, string][]
local phrases = {
  { 'or set the runner address', 'or set `host` in setup()' },
  { 'Set the runner address to where', 'Set `host` in setup() to where' },
  { 'Check the runner address', 'Check `host` in setup()' },
  {
    'Store an access token for this server, or check the one that is stored',
    'Say in "auth" of ~/.config/runner/config.json where its token is, or check the one that is there',
  },
  {
    'Store an access token for its address, or check the one that is stored',
    'Say in "auth" of ~/.config/runner/config.json where its token is, or check the one that is there',
  },
  { 'name its CA file in the settings', 'name its CA file as `caFile` in setup()' },
  { 'set a larger context length', 'set a larger `contextLength` in setup()' },
  { 'start a new chat', 'begin a new chat with :RunnerChat!' },
  { 'Start a new chat', 'Begin a new chat with :RunnerChat!' },
  { 'runner.catalogUrl', '`catalogUrl` of setup()' },
}

--- The name of a server may have any character but a quote.
local login = 'Run "runner mcp login ([^"]*)" %(with its address instead of its name, if only an editor has the server%)'

---@param message string
---@return string
function M.fit(message)
  for _, phrase in ipairs(phrases) do
    message = message:gsub(vim.pesc(phrase[1]), (phrase[2]:gsub('%%', '%%%%')))
  end
  return (message:gsub(login, 'Log in with :RunnerLogin %1'))
end

return M
