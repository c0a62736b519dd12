--- The text of tool calls and their results in the chat: quotes, so that none of it can be mistaken for a part of the
--- chat.
local controls = require('runner.controls')

local M = {}

--- The most lines shown of a result or an argument, and the most characters of a line.
local most_lines = 200
local most_characters = 1000
--- The most characters of a call in one line, and of one argument there.
local most_in_line = 200
local most_in_value = 60

---@param value any
---@param indent? string
---@return string
local function to_json(value, indent)
  local ok, text = pcall(vim.json.encode, value, { sort_keys = true, indent = indent })
  return ok and text or vim.inspect(value)
end

---@param text string
---@return string[]
local function to_lines(text)
  local lines = vim.split(controls.visible(text), '\n', { plain = true })
  local shown = {}
  for index = 1, math.min(#lines, most_lines) do
    shown[index] = controls.cut(lines[index], most_characters)
  end
  local left = #lines - #shown
  if left > 0 then
    shown[#shown + 1] = ('… %d more %s'):format(left, left == 1 and 'line' or 'lines')
  end
  return shown
end

---@param lines string[]
---@return string[]
local function quoted(lines)
  return vim.tbl_map(function(line)
    return line == '' and '>' or '> ' .. line
  end, lines)
end

--- An argument in its line, or in lines of its own below its name.
---@param key string
---@param value any
---@return string[]
local function argument_lines(key, value)
  local name = controls.line(key, 100)
  local is_text = type(value) == 'string' and value:find('\n', 1, true)
  local lines = to_lines(is_text and value or to_json(value, type(value) == 'table' and '  ' or nil))
  if #lines == 1 then
    return { ('%s: %s'):format(name, lines[1]) }
  end
  local all = { name .. ':' }
  for _, line in ipairs(lines) do
    all[#all + 1] = '  ' .. line
  end
  return all
end

--- The names, those with short values first, so that a path comes before a file's text.
---@param call runner.ToolCall
---@return string[]
local function keys_of(call)
  local keys = vim.tbl_keys(call.arguments)
  local function rank(key)
    local value = call.arguments[key]
    local is_long = type(value) == 'table' or #tostring(value) > most_in_value or tostring(value):find('\n')
    return (is_long and 'b' or 'a') .. key
  end
  table.sort(keys, function(a, b)
    return rank(a) < rank(b)
  end)
  return keys
end

--- A call in one line, for a question or a fold.
---@param call runner.ToolCall
---@return string
function M.line(call)
  local parts = vim.tbl_map(function(key)
    return ('%s:%s'):format(to_json(key), controls.line(to_json(call.arguments[key]), most_in_value))
  end, keys_of(call))
  local arguments = parts[1] and (' {%s}'):format(table.concat(parts, ',')) or ''
  return controls.line(controls.line(call.name, 100) .. arguments, most_in_line)
end

--- How far a call has come, such as `echo 2 of 5: reads`.
---@param name string Of the tool.
---@param progress? runner.ToolProgress
---@return string
function M.progress(name, progress)
  local text = controls.line(name, 40)
  if progress then
    text = ('%s %.14g%s'):format(text, progress.progress, progress.total and (' of %.14g'):format(progress.total) or '')
  end
  local message = progress and progress.message
  return message and ('%s: %s'):format(text, controls.line(message, 60)) or text
end

---@param call runner.ToolCall
---@return string[]
function M.call_lines(call)
  local lines = { ('**Call of %s**'):format(controls.line(call.name, 100)) }
  for _, key in ipairs(keys_of(call)) do
    vim.list_extend(lines, argument_lines(key, call.arguments[key]))
    if #lines > most_lines then
      lines[#lines + 1] = '… and more'
      break
    end
  end
  return quoted(lines)
end

---@param content string
---@return string[]
local function content_lines(content)
  return to_lines((content:gsub('%s+$', '')))
end

---@param result runner.ToolResult
---@return string[]
function M.result_lines(result)
  local heading = result.isError and '**It failed:**' or '**Result:**'
  return quoted(vim.list_extend({ '', heading }, content_lines(result.content)))
end

--- The text of a fold: the call and its outcome.
---@param call runner.ToolCall
---@param result runner.ToolResult
---@return runner.Summary
function M.summary(call, result)
  local server = result.server ~= '' and controls.line(result.server, 64) .. ': ' or ''
  local lines = content_lines(result.content)
  local outcome = #lines == 1 and controls.line(lines[1], 40) or ('%d lines'):format(#lines)
  if result.isError then
    outcome = 'failed: ' .. controls.line(lines[1], 60)
  end
  return { what = server .. M.line(call), outcome = outcome }
end

return M
