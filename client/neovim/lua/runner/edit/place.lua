--- Which lines an edit is about.
local M = {}

--- Lines of a buffer, from 0, without the last.
---@class runner.Lines
---@field first integer
---@field last integer

---@param bufnr integer
---@param row integer From 0.
---@return boolean
local function is_blank(bufnr, row)
  local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  return line == nil or not line:find('%S')
end

--- The names of such nodes differ from language to language, but all of them say it.
---@param node TSNode
---@return boolean
local function is_function(node)
  local kind = node:type()
  local is_call = kind:find('call') ~= nil or kind:find('type') ~= nil
  return node:named() and not is_call and (kind:find('function') ~= nil or kind:find('method') ~= nil)
end

--- The function around the cursor, if a parser knows it. One that is a part of a line is none.
---@param bufnr integer
---@param row integer
---@param col integer
---@return runner.Lines?
local function function_at(bufnr, row, col)
  local has_parser, parser = pcall(vim.treesitter.get_parser, bufnr, nil, { error = false })
  if not has_parser or not parser then
    return nil
  end
  pcall(parser.parse, parser, { row, row + 1 })
  local found, node = pcall(vim.treesitter.get_node, { bufnr = bufnr, pos = { row, col } })
  while found and node do
    local first, _, last, end_col = node:range()
    if is_function(node) and last > first then
      return { first = first, last = end_col == 0 and last or last + 1 }
    end
    node = node:parent()
  end
end

---@param bufnr integer
---@param row integer
---@return runner.Lines
local function paragraph_at(bufnr, row)
  local first, last = row, row + 1
  if is_blank(bufnr, row) then
    return { first = first, last = last }
  end
  while first > 0 and not is_blank(bufnr, first - 1) do
    first = first - 1
  end
  while not is_blank(bufnr, last) do
    last = last + 1
  end
  return { first = first, last = last }
end

--- What the cursor of the current window is in: a function, else a paragraph, else an empty line.
---@return runner.Lines
function M.at_cursor()
  local bufnr = vim.api.nvim_get_current_buf()
  local row, col = vim.api.nvim_win_get_cursor(0)[1] - 1, vim.api.nvim_win_get_cursor(0)[2]
  if is_blank(bufnr, row) then
    return { first = row, last = row + 1 }
  end
  local indent = #vim.api.nvim_get_current_line():match('^%s*')
  return function_at(bufnr, row, math.max(col, indent)) or paragraph_at(bufnr, row)
end

return M
