--- The marks of a chat in its buffer, which move with the text.
local M = {}

local namespace = vim.api.nvim_create_namespace('runner.chat')

---@param bufnr integer
---@param row integer From 0.
---@param col integer
---@param options? vim.api.keyset.set_extmark
---@return integer
function M.set(bufnr, row, col, options)
  return vim.api.nvim_buf_set_extmark(bufnr, namespace, row, col, options or {})
end

---@param bufnr integer
---@param mark integer? The beginning of the buffer, where there is none.
---@return integer row
---@return integer col
function M.place(bufnr, mark)
  local place = mark and vim.api.nvim_buf_get_extmark_by_id(bufnr, namespace, mark, {}) or {}
  return place[1] or 0, place[2] or 0
end

---@param bufnr integer
function M.clear(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
end

return M
