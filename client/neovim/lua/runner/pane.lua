--- Read-only text in a window of its own, which `q` closes.
local M = {}

---@param bufnr integer
---@param title string
---@param window integer The window that makes room; -1 is the whole screen.
---@param side? 'above'|'below' Default: below.
function M.open(bufnr, title, window, side)
  vim.bo[bufnr].modifiable, vim.bo[bufnr].bufhidden = false, 'wipe'
  vim.api.nvim_open_win(bufnr, true, { split = side or 'below', win = window })
  vim.wo.winbar = ('%%#RunnerHeading# %s %%#RunnerHint#%%=%%<q closes '):format((title:gsub('%%', '%%%%')))
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, desc = 'Closes this window' })
end

--- A pane for a few lines below or above all windows, no higher than they are.
---@param title string
---@param lines string[]
---@param side? 'above'|'below' Default: below.
---@return fun() close
function M.show(title, lines, side)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  M.open(bufnr, title, -1, side)
  local options = vim.wo[0][0]
  options.wrap, options.linebreak, options.number, options.relativenumber = true, true, false, false
  vim.api.nvim_win_set_height(0, vim.api.nvim_win_text_height(0, {}).all + 1)
  return function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      vim.api.nvim_buf_delete(bufnr, { force = true })
    end
  end
end

return M
