--- What the user is told beside the text.
local M = {}

--- Without its last sentences where it is longer than the line: the editor would ask for a key before it goes on.
---@param message string
---@return string
local function fit(message)
  while vim.fn.strdisplaywidth(message) > vim.v.echospace do
    local shorter = message:match('^(.+[.!?]) .+$')
    if not shorter then
      return message
    end
    message = shorter
  end
  return message
end

---@param message string
function M.say(message)
  vim.notify(fit('Runner: ' .. message))
end

---@param message string
function M.warn(message)
  vim.notify(fit('Runner: ' .. message), vim.log.levels.WARN)
end

---@param message string
function M.warn_once(message)
  vim.notify_once(fit('Runner: ' .. message), vim.log.levels.WARN)
end

--- What must be read whole, such as an address.
---@param message string
function M.show(message)
  vim.notify('Runner: ' .. message)
end

--- What somebody asked for has failed: that, and what to do about it, is worth a key.
---@param message string
function M.complain(message)
  vim.notify('Runner: ' .. message, vim.log.levels.ERROR)
end

return M
