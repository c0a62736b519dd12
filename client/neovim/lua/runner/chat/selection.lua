--- Lines of a buffer as a block that goes before the user's words.
local M = {}

---@class runner.Selection
---@field block string What the model reads.
---@field title string What the user sees.

--- Of protocol/contextTags.ts: the first whose end is not in the text, so that no line of it becomes the user's word.
---@param text string
---@return string
local function element_for(text)
  return vim.iter({ 'selection', 'attachment', 'file_context', 'context' }):find(function(name)
    return not text:find('</' .. name, 1, true)
  end) or 'selection'
end

---@param text string
---@return string
local function to_attribute(text)
  return (text:gsub('&', '&amp;'):gsub('"', '&quot;'):gsub('\n', ' '))
end

---@param bufnr integer
---@return string
local function path_of(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  return path == '' and 'a new file' or vim.fn.fnamemodify(path, ':.')
end

---@param bufnr integer
---@param first integer From 1.
---@param last integer
---@return runner.Selection
function M.of_lines(bufnr, first, last)
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, first - 1, last, false), '\n')
  local path = path_of(bufnr)
  local element = element_for(text)
  local filetype = vim.bo[bufnr].filetype
  local language = filetype == '' and '' or (' language="%s"'):format(to_attribute(filetype))
  local opening = ('<%s file="%s"%s lines="%d-%d">'):format(element, to_attribute(path), language, first, last)
  return {
    block = ('%s\n%s\n</%s>'):format(opening, text, element),
    title = ('with lines %d to %d of %s'):format(first, last, path),
  }
end

return M
