--- The state of the runner, as the daemon reports it.
local advice = require('runner.advice')
local incoming = require('runner.incoming')
local notice = require('runner.notice')

local M = {}

---@type runner.Status?
local current

---@return string
function M.text()
  local work = require('runner.work').text()
  if work then
    return work
  end
  if not current then
    return ''
  end
  local mark = current.kind == 'ok' and '' or '!'
  return ('Runner%s: %s'):format(mark, current.state)
end

--- How products are called in a sentence.
local product_names = {
  ollama = 'Ollama',
  ['llama.cpp'] = 'llama.cpp',
  lmstudio = 'LM Studio',
  vllm = 'vLLM',
  other = 'this server',
}

--- What serves the models, as far as it has answered.
---@return string?
function M.product()
  return current and product_names[current.product]
end

--- Whether the runner can do something. One that has not answered yet may.
---@param ability string
---@return boolean
function M.can(ability)
  return not (current and current.can) or vim.list_contains(current.can, ability)
end

--- How the user gets a model.
---@return string
function M.how_to_get()
  local pull = 'Get one, for example with :RunnerPull qwen3:4b.'
  return M.can('pull') and pull or 'Load one in the program that serves the models.'
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

incoming.on('runner/status/didChange', vim.schedule_wrap(take))

return M
