--- Messages to the user.
local M = {}

--- Drops last sentences until the message fits into the line: otherwise the editor would wait for a key.
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

--- For messages that must be read in full, such as an address.
---@param message string
function M.show(message)
  vim.notify('Runner: ' .. message)
end

--- For failures of a user's request: shown in full, even if the editor then waits for a key.
---@param message string
function M.complain(message)
  vim.notify('Runner: ' .. message, vim.log.levels.ERROR)
end

return M
