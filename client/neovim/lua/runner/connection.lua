--- Requests to the daemon, and their answers.
local advice = require('runner.advice')
local client = require('runner.client')
local notice = require('runner.notice')

local M = {}

---@class runner.Error
---@field message string A sentence that says what to do next.
---@field code? integer
---@field data? { kind?: string, partial?: table }

---@class runner.Request
---@field cancel fun()

---@alias runner.Done fun(err: runner.Error?, result: any)

--- LSP's code for a cancelled request. Neovim does not call back for an answer with this code.
local cancelled = { code = -32800, message = 'Cancelled.' }

--- Callbacks of unanswered requests, by client. They fail when its daemon ends.
---@type table<runner.Done, integer>
local unanswered = {}

client.on_end(function(client_id, message)
  for _, done in ipairs(vim.tbl_keys(unanswered)) do
    if unanswered[done] == client_id then
      done({ message = message })
    end
  end
end)

--- Sends a request to the daemon, and starts it if needed. `done` is called once, even when the daemon ends.
---@param method string
---@param params table
---@param done runner.Done
---@return runner.Request
function M.request(method, params, done)
  local asked, request_id
  local is_over = false
  local finish
  finish = function(err, result)
    if is_over then
      return
    end
    is_over = true
    unanswered[finish] = nil
    local message = err and advice.fit({ message = err.message, advice = err.data and err.data.advice })
    done(err and vim.tbl_extend('force', err, { message = message }), result)
  end
  local client_id, problem = client.when_initialized(function(connected)
    if is_over then
      return
    end
    asked = connected
    _, request_id = connected:request(method, params, finish)
    if not request_id then
      finish({ message = 'The daemon takes no more requests. Ask again to start it anew.' })
    end
  end)
  if problem then
    finish({ message = problem })
  elseif not is_over then
    unanswered[finish] = client_id
  end
  return {
    cancel = function()
      if asked and request_id and not is_over then
        asked:cancel_request(request_id)
      end
      -- A cancelled chat is answered with its partial answer. No answer to another cancelled request arrives here.
      if method ~= 'runner/chat' or not request_id then
        finish(cancelled)
      end
    end,
  }
end

--- The same for what the user asked for: a failure is shown, and `take` is called only with a result.
---@param method string
---@param params table
---@param take fun(result: any)
---@param fail? fun(message: string) Default: the message is shown.
function M.ask(method, params, take, fail)
  M.request(method, params, function(err, result)
    if err then
      (fail or notice.complain)(err.message)
    else
      take(result)
    end
  end)
end

--- Waits for the answer, for uses such as the completion of a command line.
---@param method string
---@param params table
---@param within integer Milliseconds.
---@return any? result
---@return string? problem
function M.request_now(method, params, within)
  local answer
  local request = M.request(method, params, function(err, result)
    answer = { err = err, result = result }
  end)
  vim.wait(within, function()
    return answer ~= nil
  end, 10)
  if not answer then
    request.cancel()
    return nil, 'The daemon did not answer in time.'
  end
  return answer.result, answer.err and answer.err.message
end

return M
