--- Writes into the buffer of a chat. These changes cannot be undone, so that no undo removes a part of an answer or moves
--- marks back.
local M = {}

--- The editor then forgets its undo history, including the user's own changes.
local no_undo = -1

---@param bufnr integer
---@param write fun()
function M.write(bufnr, write)
  local options = vim.bo[bufnr]
  local is_modifiable, levels = options.modifiable, options.undolevels
  options.modifiable, options.undolevels = true, no_undo
  local is_written, problem = pcall(write)
  options.modifiable, options.undolevels = is_modifiable, levels
  if not is_written then
    error(problem, 0)
  end
end

---@param bufnr integer
---@param row integer From 0: the lines stand before it.
---@param lines string[]
function M.insert(bufnr, row, lines)
  M.write(bufnr, function()
    vim.api.nvim_buf_set_lines(bufnr, row, row, false, lines)
  end)
end

--- Like `insert`, as a part of the user's last change in the current buffer.
---@param bufnr integer
---@param row integer
---@param lines string[]
function M.join(bufnr, row, lines)
  local options = vim.bo[bufnr]
  local is_modifiable = options.modifiable
  options.modifiable = true
  vim.cmd('silent! undojoin')
  vim.api.nvim_buf_set_lines(bufnr, row, row, false, lines)
  options.modifiable = is_modifiable
end

---@param bufnr integer
---@param first integer From 0.
---@param lines string[]
function M.replace_from(bufnr, first, lines)
  M.write(bufnr, function()
    vim.api.nvim_buf_set_lines(bufnr, first, -1, false, lines)
  end)
end

--- Replaces the text between two positions.
---@param bufnr integer
---@param from { [1]: integer, [2]: integer }
---@param to { [1]: integer, [2]: integer }
---@param text string
function M.set_text(bufnr, from, to, text)
  M.write(bufnr, function()
    local lines = vim.split(text, '\n', { plain = true })
    vim.api.nvim_buf_set_text(bufnr, from[1], from[2], to[1], to[2], lines)
  end)
end

---@param bufnr integer
---@param row integer From 0.
---@return string?
function M.line(bufnr, row)
  return row >= 0 and vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or nil
end

return M
