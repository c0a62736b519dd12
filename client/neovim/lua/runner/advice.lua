--- What the daemon says to any editor, in the words of this one.
local M = {}

---@type [string, string][]
local phrases = {
  { 'or set the runner address', 'or set `host` in setup()' },
  { 'Check the runner address', 'Check `host` in setup()' },
  { 'name its CA file in the settings', 'name its CA file as `caFile` in setup()' },
  { 'set a larger context length', 'set a larger `contextLength` in setup()' },
  { 'start a new chat', 'begin a new chat with :RunnerChat!' },
  { 'Start a new chat', 'Begin a new chat with :RunnerChat!' },
  { 'runner.catalogUrl', '`catalogUrl` of setup()' },
}

---@param message string
---@return string
function M.fit(message)
  for _, phrase in ipairs(phrases) do
    message = message:gsub(vim.pesc(phrase[1]), (phrase[2]:gsub('%%', '%%%%')))
  end
  return message
end

return M
