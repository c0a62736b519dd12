--- What a model thought is folded once it is done; while it thinks, it can be read along.
local M = {}

local namespace = vim.api.nvim_create_namespace('runner.chat.thinking')

---@param bufnr integer
---@param first integer From 0.
---@param last integer
function M.add(bufnr, first, last)
  vim.api.nvim_buf_set_extmark(bufnr, namespace, first, 0, { end_row = last, end_col = 0, undo_restore = false })
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    -- To set it again has the editor look at all lines anew.
    vim.wo[window][0].foldmethod = 'expr'
  end
end

---@param bufnr integer
function M.clear(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
end

---@param value string
---@return boolean
local function is_set(value)
  return value ~= ''
end

---@param window integer
function M.show_in(window)
  local options = vim.wo[window][0]
  options.foldmethod = 'expr'
  options.foldexpr = "v:lua.require'runner.chat.folds'.level()"
  options.foldtext = "v:lua.require'runner.chat.folds'.text()"
  options.foldlevel = 0
  options.foldminlines = 0
  options.foldenable = true
  -- No dots behind the text; what else is set stays.
  options.fillchars = vim.iter({ vim.o.fillchars, 'fold: ' }):filter(is_set):join(',')
end

--- For 'foldexpr'.
---@return string|integer
function M.level()
  local row = vim.v.lnum - 1
  local marks = vim.api.nvim_buf_get_extmarks(0, namespace, { row, 0 }, { row, -1 }, { details = true, overlap = true })
  for _, mark in ipairs(marks) do
    local first, last = mark[2], mark[4].end_row
    if row >= first and row <= last then
      return row == first and '>1' or 1
    end
  end
  return 0
end

--- For 'foldtext'.
---@return string
function M.text()
  local lines = vim.v.foldend - vim.v.foldstart + 1
  return ('> Thought, %d %s (zo opens)'):format(lines, lines == 1 and 'line' or 'lines')
end

return M
