--- The state of the runner, as the daemon reports it.
local advice = require('runner.advice')
local incoming = require('runner.incoming')
local notice = require('runner.notice')

local M = {}

---@class runner.Status
---@field state 'checking'|'online'|'busy'|'offline'
---@field kind 'ok'|'warning'|'error'
---@field message string
---@field advice? runner.Advice
---@field version? string

---@type runner.Status?
local current

---@return string
function M.text()
  local pull = require('runner.pull').text()
  if pull then
    return pull
  end
  if not current then
    return ''
  end
  local mark = current.kind == 'ok' and '' or '!'
  return ('Runner%s: %s'):format(mark, current.state)
end

function M.forget()
  current = nil
  vim.cmd.redrawstatus({ bang = true })
end

--- Warns once about each problem, with advice.
---@param status runner.Status
local function take(status)
  local said = current and current.message
  current = vim.tbl_extend('force', status, { message = advice.fit(status) })
  vim.cmd.redrawstatus({ bang = true })
  if status.kind ~= 'ok' and current.message ~= said then
    notice.warn(current.message)
  end
end

local is_listening = false

function M.listen()
  if not is_listening then
    is_listening = true
    incoming.on('runner/status/didChange', vim.schedule_wrap(take))
  end
end

return M
