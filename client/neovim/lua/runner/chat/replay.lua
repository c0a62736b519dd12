--- Writes a kept conversation into a page.
local attachments = require('runner.chat.attachments')

local M = {}

local remarks = { cancelled = '*Cancelled.*', failed = '*Failed.*' }

---@param message runner.SessionMessage
---@return string?
local function remark_of(message)
  local list = vim.tbl_map(function(attachment)
    local lines = attachment.lines and attachment.lines:gsub('^(%d+)%-(%d+)$', 'lines %1 to %2 of ') or ''
    return { attachment = attachment, title = lines .. attachment.path }
  end, message.attachments or {})
  return attachments.title_of(list)
end

---@param page runner.Page
---@param message runner.SessionMessage
local function add_answer(page, message)
  if (message.thinking or '') ~= '' then
    page:add_thinking(message.thinking)
  end
  if message.content ~= '' then
    page:add_text(message.content)
  end
  for _, call in ipairs(message.toolCalls or {}) do
    page:add_call(call)
  end
  if message.partial then
    page:add_line(remarks[message.partial] or '*Not whole.*')
  end
end

--- A kept result has no error flag: its content, which is the text that the model has read, says what failed.
---@param message runner.SessionMessage
---@return runner.ToolResult
local function result_of(message)
  return {
    id = message.toolCallId or '',
    name = message.toolName or '',
    server = '',
    content = message.content,
    isError = false,
  }
end

---@param messages runner.SessionMessage[]
---@param index integer Of a prompt.
---@return string?
local function model_of(messages, index)
  for after = index + 1, #messages do
    local message = messages[after]
    if message.role == 'user' then
      return nil
    elseif message.role == 'assistant' and message.model then
      return message.model
    end
  end
end

---@param page runner.Page
---@param messages runner.SessionMessage[]
---@param model? string Who answers where no message says it.
function M.write(page, messages, model)
  for index, message in ipairs(messages) do
    if message.role == 'user' then
      page:end_answer()
      page:begin_answer(message.content, model_of(messages, index) or model or 'Answer', remark_of(message))
    elseif message.role == 'assistant' then
      add_answer(page, message)
    elseif message.role == 'tool' then
      page:add_result(result_of(message))
    end
  end
  page:end_answer()
end

return M
