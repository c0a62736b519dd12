--- The windows of chats.
local folds = require('runner.chat.folds')

local M = {}

--- A chat is not code: no line numbers, no signs, lines wrapped at words. A paragraph is one line: one that is longer
--- than the window can be scrolled row by row, and its end stays visible above the prompt.
---@param window integer
function M.dress(window)
  local options = vim.wo[window][0]
  options.wrap, options.linebreak, options.smoothscroll = true, true, true
  options.number, options.relativenumber, options.signcolumn = false, false, 'no'
  folds.show_in(window)
end

---@param bufnr integer
---@return integer? window Of this tab first.
local function find(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  return window ~= -1 and window or vim.fn.win_findbuf(bufnr)[1]
end

--- Goes to the chat's window; else replaces another chat in its window; else opens one on the right.
---@param bufnr integer
---@param other? integer The buffer of another chat.
---@return integer window
function M.show(bufnr, other)
  local window = find(bufnr)
  local free = not window and other and vim.fn.bufwinid(other) or -1
  if window then
    vim.api.nvim_set_current_win(window)
  elseif free ~= -1 then
    vim.api.nvim_set_current_win(free)
    vim.api.nvim_win_set_buf(free, bufnr)
  else
    vim.api.nvim_open_win(bufnr, true, { split = 'right', win = 0 })
  end
  return vim.api.nvim_get_current_win()
end

return M
